import type { MadeBody } from "./made_bodies.ts";

/** A version of a key as its writer knows it. */
export interface KnownVersion {
  /** Null while it was not told: the answer never came. */
  id: string | null;
  isMarker: boolean;
  /** SHA-256 of the body, hexadecimal; `""` for a marker. */
  digest: string;
  size: number;
  /** Without quotes; null while it was not told. */
  etag: string | null;
}

/** The versions of one key, the newest first; in a bucket without versioning at most one, with the id `null`. */
export type KeyState = readonly KnownVersion[];

/** A part that was acknowledged. */
export interface KnownPart {
  etag: string;
  body: MadeBody;
}

/** An upload in parts that was begun. */
export interface KnownUpload {
  id: string;
  parts: Map<number, KnownPart>;
  /** A request without a response: it took effect completely or not at all. */
  unanswered: null | { part: number; replacement: KnownPart } | "complete" | "abort";
}

/** All that one writer knows of one key. No other writer touches it, so that the order of its changes is known. */
export interface KnownKey {
  bucket: string;
  isVersioned: boolean;
  key: string;
  /** The state that was acknowledged; a second one is what a change without an answer would have made of it. */
  states: [KeyState] | [KeyState, KeyState];
  uploads: Map<string, KnownUpload>;
  /** An upload was asked for and its name never told. */
  mayHaveUnknownUpload: boolean;
}

/** The responses that writers of a store got, by key. */
export class Ledger {
  readonly writers: readonly (readonly KnownKey[])[];

  constructor(writers: number, keysEach: number, buckets: { unversioned: string; versioned: string }) {
    this.writers = Array.from(
      { length: writers },
      (_, writer) =>
        Array.from({ length: keysEach }, (_, n): KnownKey => ({
          bucket: n % 2 === 0 ? buckets.unversioned : buckets.versioned,
          isVersioned: n % 2 !== 0,
          key: `crash/${writer}/${n}`,
          states: [[]],
          uploads: new Map(),
          mayHaveUnknownUpload: false,
        })),
    );
  }

  get keys(): KnownKey[] {
    return this.writers.flat();
  }
}

/** The acknowledged state of a key. */
export function present(key: KnownKey): KeyState {
  return key.states[0];
}

/** The version that a plain read finds; null where there is none or it is a marker. */
export function readable(key: KnownKey): KnownVersion | null {
  const newest = present(key).at(0);
  return newest && !newest.isMarker ? newest : null;
}

/** The state of a key after a write. */
export function afterWrite(key: KnownKey, version: KnownVersion): KeyState {
  return key.isVersioned ? [version, ...present(key)] : [version];
}

/** The state of a key after a delete without a version: a versioned bucket gets a marker each time. */
export function afterDelete(key: KnownKey, marker: string | null): KeyState {
  if (!key.isVersioned) return [];
  return [{ id: marker, isMarker: true, digest: "", size: 0, etag: null }, ...present(key)];
}

/** The state of a key after one version was deleted. */
export function afterVersionDelete(key: KnownKey, id: string): KeyState {
  return present(key).filter((version) => version.id !== id);
}
