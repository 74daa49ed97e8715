import { entries, integerAt, member, stringAt } from "@/lib/std/untrusted.ts";

/** A version of an object, or a delete marker. */
export interface ObjectVersion {
  /** Null where the store names none. */
  readonly id: string | null;
  readonly isLatest: boolean;
  readonly isMarker: boolean;
  /** ISO 8601; null where the store says nothing. */
  readonly changed: string | null;
  /** Bytes; 0 for a delete marker. */
  readonly bytes: number;
}

/** A page of the versions of a key, the newest first. */
export interface VersionPage {
  readonly versions: readonly ObjectVersion[];
  /** There are older ones. */
  readonly isCut: boolean;
}

/** Reads the gateway's list of the versions of a key; null where it is none. */
export function readVersionPage(answer: unknown): VersionPage | null {
  const list = member(answer, "versions");
  if (!Array.isArray(list)) return null;
  return {
    versions: entries(list).map((version) => ({
      id: stringAt(version, "VersionId"),
      isLatest: member(version, "IsLatest") === true,
      isMarker: member(version, "IsDeleteMarker") === true,
      changed: stringAt(version, "LastModified"),
      bytes: integerAt(version, "Size"),
    })),
    isCut: member(answer, "is_truncated") === true,
  };
}

/** Whether the list says more than that there is one object. */
export function hasHistory({ versions }: VersionPage): boolean {
  return versions.length > 1 || versions.some(({ id, isMarker }) => isMarker || (id !== null && id !== "null"));
}
