import { invalid } from "@/lib/embedded/store/mapi/mapi_error.ts";
import { isPathSegment } from "@/lib/embedded/store/names.ts";

/** How one member of a record is read: gives the value to keep, or throws {@link MapiError} 400 naming the member. */
export type Member = (value: unknown, name: string) => unknown;

/** The members of a record that the store knows. */
export type Members = Readonly<Record<string, Member>>;

/** The known members of a body, each checked; null and unknown ones are left out. Throws 400. */
export function readMembers(body: Readonly<Record<string, unknown>>, members: Members): Record<string, unknown> {
  const known: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(members)) {
    const value = Object.hasOwn(body, name) ? body[name] : null;
    if (value !== null && value !== undefined) known[name] = member(value, name);
  }
  return known;
}

/** Text of at most `longest` characters, without control characters but line ends. */
export function text(longest: number, shortest = 0): Member {
  return (value, name) => {
    if (typeof value !== "string") throw invalid(name, "must be a string");
    const length = lengthOf(value);
    // deno-lint-ignore no-control-regex
    if (length < shortest || length > longest || /[\u0000-\u0008\u000b\u000c\u000e-\u001f]/.test(value)) {
      throw invalid(name, `must have ${shortest} to ${longest} printable characters`);
    }
    return value;
  };
}

/** Characters of a text, each counted once whatever its place in Unicode. */
function lengthOf(text: string): number {
  return [...text].length;
}

/** One of a few words. */
export function oneOf(...words: string[]): Member {
  return (value, name) => {
    if (typeof value !== "string" || !words.includes(value)) throw invalid(name, `must be one of ${words.join(", ")}`);
    return value;
  };
}

/** One of a few words in any case, kept as it is spelled here. */
export function oneOfAnyCase(...words: string[]): Member {
  return (value, name) => {
    const known = words.find((word) => typeof value === "string" && word.toLowerCase() === value.toLowerCase());
    if (known === undefined) throw invalid(name, `must be one of ${words.join(", ")}`);
    return known;
  };
}

/** The name of a class: 1 to 64 characters that a path can carry. Throws 400. */
export function className(value: unknown): string {
  if (typeof value !== "string" || !/^[^\p{Cc}]{1,64}$/u.test(value) || !isPathSegment(value)) {
    throw invalid("name", "must have 1 to 64 characters, and be neither . nor ..");
  }
  return value;
}

/** Tags: 1 to 64 characters each, without commas, by which lists are filtered. */
export const tags: Member = (value, name) => {
  const known = wrapped("tag")(value, name);
  if ((known as { tag: string[] }).tag.some((tag) => tag === "" || tag.includes(","))) {
    throw invalid(name, "must have 1 to 64 characters each, without commas");
  }
  return known;
};

/** true or false, also in the store's short spellings. */
export const boolean: Member = (value, name) => {
  if (typeof value === "boolean") return value;
  if (["true", "t", "1"].includes(String(value))) return true;
  if (["false", "f", "0"].includes(String(value))) return false;
  throw invalid(name, "must be true or false");
};

/** A whole number within bounds, also as a string of digits. */
export function integer(least: number, most: number): Member {
  return (value, name) => {
    const number = typeof value === "string" && /^[0-9]{1,10}$/.test(value) ? Number(value) : value;
    if (typeof number !== "number" || !Number.isInteger(number) || number < least || number > most) {
      throw invalid(name, `must be a whole number from ${least} to ${most}`);
    }
    return number;
  };
}

/** A storage size such as `100 GB`: at most two decimals, a space and MB, GB or TB, and at least 1 GB. */
export const quota: Member = (value, name) => {
  const match = typeof value === "string" && /^((?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,2})?) (MB|GB|TB)$/.exec(value);
  if (!match) throw invalid(name, "must be a number, a space and MB, GB or TB");
  const gigabytes = Number(match[1]) * { MB: 1 / 1024, GB: 1, TB: 1024 }[match[2] as "MB" | "GB" | "TB"];
  if (gigabytes < 1) throw invalid(name, "must be at least 1 GB");
  return value;
};

/** A list of words in the store's wrapping, such as `{"role": [...]}`. */
export function wrapped(member: string, words?: readonly string[], most = 100): Member {
  return (value, name) => {
    const list = typeof value === "object" && value !== null && Object.hasOwn(value, member)
      ? (value as Record<string, unknown>)[member]
      : undefined;
    if (!Array.isArray(list) || list.length > most) {
      throw invalid(name, `must be an object with the list ${member}, of at most ${most} entries`);
    }
    for (const word of list) {
      if (typeof word !== "string" || lengthOf(word) > 64 || (words && !words.includes(word))) {
        throw invalid(name, words ? `may hold only ${words.join(", ")}` : "may hold only short strings");
      }
    }
    return { [member]: [...new Set(list)] };
  };
}

/** A nested record of known members. */
export function record(members: Members): Member {
  return (value, name) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) throw invalid(name, "must be an object");
    return readMembers(value as Record<string, unknown>, members);
  };
}
