import { hash } from "node:crypto";
import type { AuditDetails, AuditTarget } from "@/lib/http/audit_event.ts";

/** Keys of one change that its record names; the digest of all says which they were. */
const NAMED_KEYS = 20;

/** A bucket as the target of a change. */
export function bucketTarget({ params: { bucket } }: { readonly params: { readonly bucket: string } }): AuditTarget {
  return { kind: "bucket", bucket };
}

interface ObjectInput {
  readonly params: { readonly bucket: string; readonly key: string };
  readonly query?: { readonly version_id?: string };
}

/** An object, or one version of it, as the target of a change. */
export function objectTarget({ params: { bucket, key }, query }: ObjectInput): AuditTarget {
  const version = query?.version_id;
  return { kind: "object", bucket, key, ...(version === undefined ? {} : { version_id: version }) };
}

/** Keys of one change: how many, the first of them, and the SHA-256 of their JSON array. */
export function keyDetails(keys: readonly string[]): AuditDetails {
  if (keys.length === 0) return {};
  return {
    count: keys.length,
    keys: keys.slice(0, NAMED_KEYS),
    keys_sha256: hash("sha256", JSON.stringify(keys), "hex"),
  };
}

/** What is chosen by keys and prefixes as the target of a task, which one prefix names. */
export function chosenTarget(bucket: string, prefixes: readonly string[]): AuditTarget {
  return { kind: "objects", bucket, ...(prefixes.length === 1 ? { prefix: prefixes[0] } : {}) };
}

/** Keys as {@link keyDetails} has them, and prefixes that the target does not name. */
export function chosenDetails(keys: readonly string[], prefixes: readonly string[]): AuditDetails {
  return { ...keyDetails(keys), ...(prefixes.length > 1 ? { prefixes } : {}) };
}

/** The version that a change created or removed, as the store's response has it. */
export function versionNote(headers: Headers): AuditDetails {
  const version = headers.get("x-amz-version-id");
  const isMarker = headers.get("x-amz-delete-marker") === "true";
  return {
    ...(version === null ? {} : { version_id: version }),
    ...(isMarker ? { marker: true } : {}),
  };
}
