/** The own member of an object along a path; undefined for anything else, such as `__proto__` and `constructor`. */
export function member(value: unknown, ...path: readonly string[]): unknown {
  let found = value;
  for (const name of path) {
    if (!isObject(found) || !Object.hasOwn(found, name)) return undefined;
    found = found[name];
  }
  return found;
}

/** A text, or a UTF-8 body, parsed as JSON; undefined when it is malformed. */
export function parsedJson(body: string | Uint8Array): unknown {
  try {
    return JSON.parse(typeof body === "string" ? body : new TextDecoder().decode(body));
  } catch {
    return undefined;
  }
}

/** The entries of an array; none for any other value. */
export function entries(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The string found along a path, else null. */
export function stringAt(
  value: unknown,
  ...path: readonly string[]
): string | null {
  const found = member(value, ...path);
  return typeof found === "string" ? found : null;
}

/** The integer found along a path, else 0. */
export function integerAt(value: unknown, ...path: readonly string[]): number {
  const found = member(value, ...path);
  return Number.isSafeInteger(found) ? Number(found) : 0;
}

/** The first `limit` characters (code points: a pair of surrogates is never cut in two). */
export function clip(text: string, limit: number): string {
  if (text.length <= limit) return text;
  let end = 0;
  for (let taken = 0; taken < limit && end < text.length; taken++) {
    end += text.codePointAt(end)! > 0xffff ? 2 : 1;
  }
  return text.slice(0, end);
}

/** Whether a text has more than `limit` characters (code points). */
export function isLonger(text: string, limit: number): boolean {
  return text.length > limit && clip(text, limit).length < text.length;
}

/** Whether an object has its own member of a name. */
export function isKeyOf<T extends object>(object: T, name: PropertyKey): name is keyof T {
  return Object.hasOwn(object, name);
}

/** Whether a value is a JSON object: not an array, not null. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
