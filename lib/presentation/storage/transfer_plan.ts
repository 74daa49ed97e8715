import type { StorageRow } from "./listing.ts";

/** A folder of a bucket: where objects come from, or go to. */
export interface Place {
  readonly bucket: string;
  /** "" or a text that ends in a slash. */
  readonly prefix: string;
}

/** An object that gets another key, or everything below a prefix that gets another one. */
export interface TransferStep {
  readonly kind: StorageRow["kind"];
  /** A key or a prefix. */
  readonly from: string;
  readonly to: string;
}

/**
 * Why names cannot be moved or copied: the place is theirs already, lies within them, gives objects of a folder keys that
 * are below the folder again, or makes a key too long.
 */
export type TransferProblem = "same place" | "inside itself" | "onto itself" | "too long";

/** Why no object or folder can have a name. */
export type NameProblem = "empty" | "slash" | "too long" | "half a character";

type TransferPlan = {
  readonly steps: readonly TransferStep[];
  /** A prefix below which there must be no keys, as these would get keys that are sources themselves; null: none. */
  readonly ontoItself: string | null;
} | { readonly problem: TransferProblem };

/** Longest key (S3 API), bytes of UTF-8. */
const MAX_KEY_BYTES = 1024;

type Named = Pick<StorageRow, "kind" | "key">;

/** Plans that rows of a folder go to another place under the names that they have. */
export function planTransfer(rows: readonly Named[], from: Place, to: Place): TransferPlan {
  const steps = rows.map(({ kind, key }): TransferStep => ({
    kind,
    from: key,
    to: to.prefix + key.slice(from.prefix.length),
  }));
  return checked(steps, from.bucket === to.bucket);
}

/** Plans that a row gets another name in its folder. @param name without a slash at its end */
export function planRename({ kind, key }: Named, { prefix }: Place, name: string): TransferPlan {
  return checked([{ kind, from: key, to: prefix + name + (kind === "folder" ? "/" : "") }], true);
}

/** The key that an object gets. @param key the step's own, or one below its prefix */
export function targetKey({ from, to }: TransferStep, key: string): string {
  return to + key.slice(from.length);
}

/** Whether a key can be longer than a store takes. */
function isTooLong(key: string): boolean {
  return new TextEncoder().encode(key).length > MAX_KEY_BYTES;
}

/** Why a folder cannot hold a name; null: it can. */
export function nameProblem(prefix: string, name: string): NameProblem | null {
  if (name === "") return "empty";
  if (name.includes("/")) return "slash";
  if (!name.isWellFormed()) return "half a character";
  return isTooLong(`${prefix}${name}/`) ? "too long" : null;
}

function checked(steps: readonly TransferStep[], isSameBucket: boolean): TransferPlan {
  for (const { kind, from, to } of steps) {
    if (isSameBucket && from === to) return { problem: "same place" };
    // A listing of the folder would find its own copies, and never end.
    if (isSameBucket && kind === "folder" && to.startsWith(from)) return { problem: "inside itself" };
    if (isTooLong(to)) return { problem: "too long" };
  }
  return isSameBucket ? ordered(steps) : { steps, ontoItself: null };
}

/** A folder that moves up to a parent of the same name comes last: its objects may get keys of the other rows. */
function ordered(steps: readonly TransferStep[]): TransferPlan {
  const upward = steps.find(({ kind, from, to }) => kind === "folder" && from.startsWith(to));
  if (!upward) return { steps, ontoItself: null };
  const { from, to } = upward;
  return { steps: [...steps.filter((step) => step !== upward), upward], ontoItself: from + from.slice(to.length) };
}
