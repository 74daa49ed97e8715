import { signal } from "@preact/signals";

/** What an account may do in a bucket, or may not. */
type Change = "write" | "delete";

const KEY = "stackroom.refused-changes";
const MAX_REFUSED = 100;

const known = signal<readonly string[]>([]);

/** Remembers for this tab that the store forbade a change. Nothing else says cheaply what an account may do. */
export function refused(account: string, bucket: string, change: Change): void {
  const name = nameOf(account, bucket, change);
  if (known.peek().includes(name)) return;
  known.value = [...known.peek(), name].slice(-MAX_REFUSED);
  try {
    sessionStorage.setItem(KEY, JSON.stringify(known.peek()));
  } catch {
    // It is remembered until the page is left.
  }
}

/** Whether the store has forbidden a change in this tab. */
export function isRefused(account: string, bucket: string, change: Change): boolean {
  return known.value.includes(nameOf(account, bucket, change));
}

/** Takes over what earlier pages of this tab have remembered. */
export function recallRefused(): void {
  known.value = stored();
}

function nameOf(...names: readonly string[]): string {
  return JSON.stringify(names);
}

function stored(): string[] {
  try {
    const names: unknown = JSON.parse(sessionStorage.getItem(KEY) ?? "[]");
    return Array.isArray(names) ? names.filter((name) => typeof name === "string") : [];
  } catch {
    return [];
  }
}
