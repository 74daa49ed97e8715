import { entries, integerAt, member, stringAt } from "@/lib/std/untrusted.ts";
import { compareKeys } from "./upload_names.ts";

/** A folder or an object in a folder. */
export interface StorageRow {
  readonly kind: "folder" | "object";
  /** The whole key of an object; of a folder what all of its keys begin with, with its last slash. */
  readonly key: string;
  /** Bytes; 0 for a folder. */
  readonly size: number;
  /** ISO 8601; null for a folder, and where the store says nothing. */
  readonly changed: string | null;
}

/** A page of a folder's listing. */
export interface FolderPage {
  /** In the order of the store: by the bytes of the names, folders among the objects. */
  readonly rows: readonly StorageRow[];
  /** Continues the listing; null at its end. */
  readonly next: string | null;
}

/** A bucket of an account. */
interface StorageBucket {
  readonly name: string;
  /** ISO 8601; null where the store says nothing. */
  readonly created: string | null;
}

/** A bucket, and what is in it. */
export interface CountedBucket extends StorageBucket {
  /** Objects, old versions counted, and their bytes; null where they are not known. */
  readonly usage: { readonly objects: number; readonly bytes: number } | null;
}

/**
 * Reads a page of the gateway's object listing with the delimiter `/`; null where it is none.
 *
 * @param prefix of the folder: its own marker, an empty object of that name, is left out
 */
export function readFolderPage(answer: unknown, prefix: string): FolderPage | null {
  if (!Array.isArray(member(answer, "objects")) || !Array.isArray(member(answer, "common_prefixes"))) return null;
  const folders = entries(member(answer, "common_prefixes")).flatMap((key): StorageRow[] =>
    typeof key === "string" ? [{ kind: "folder", key, size: 0, changed: null }] : []
  );
  const objects = entries(member(answer, "objects")).flatMap((object): StorageRow[] => {
    const key = stringAt(object, "Key");
    const size = integerAt(object, "Size");
    if (key === null || (key === prefix && size === 0)) return [];
    return [{ kind: "object", key, size, changed: stringAt(object, "LastModified") }];
  });
  const isCut = member(answer, "is_truncated") === true;
  return {
    rows: [...folders, ...objects].sort((a, b) => compareKeys(a.key, b.key)),
    next: isCut ? stringAt(answer, "next_continuation_token") : null,
  };
}

/** Reads the gateway's list of buckets; null where it is none. */
export function readBuckets(answer: unknown): StorageBucket[] | null {
  const buckets = member(answer, "buckets");
  if (!Array.isArray(buckets)) return null;
  return buckets.flatMap((bucket) => {
    const name = stringAt(bucket, "Name");
    return name === null ? [] : [{ name, created: stringAt(bucket, "CreationDate") }];
  });
}

/**
 * A text that comes just before all keys that begin with another one: listings begin after a key, and a name that was
 * requested is to be in the listing.
 */
export function justBefore(text: string): string {
  const points = Array.from(text);
  const last = points.pop()?.codePointAt(0) ?? 0;
  const before = points.join("");
  if (last <= 1) return before;
  // The code points of surrogates are none of a text.
  const lower = last === 0xe000 ? 0xd7ff : last - 1;
  return `${before}${String.fromCodePoint(lower)}${LAST_CHARACTER}`;
}

/** The last character that every store takes in a key: the ones above are no characters. */
const LAST_CHARACTER = "\u{10FFFD}";
