import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { notFound } from "@/lib/http/errors.ts";
import { resourceOf, type S3 } from "./client.ts";
import { versionsCall } from "./listing.ts";
import type { ObjectRef } from "./objects.ts";
import { callS3ForXml } from "./read_xml.ts";
import { type KeyVersion, keyVersion, parseVersionEntries } from "./version_xml.ts";

/** A page of the versions of one key, the newest first. */
export const keyVersionPage = z.object({
  versions: z.array(keyVersion),
  is_truncated: z.boolean(),
  next_version_id_marker: z.string().nullable(),
  key_count: z.int().meta({ description: "Versions and delete markers of this page" }),
});
type KeyVersionPage = z.output<typeof keyVersionPage>;

interface KeyVersionOptions {
  /** 1 to {@link MAX_KEYS} */
  readonly maxKeys: number;
  /** The page begins after this version. */
  readonly versionIdMarker?: string;
}

/**
 * One page of the versions and delete markers of a key. S3 lists those of all keys that begin with it, of which it is
 * the first in their order.
 *
 * @throws HttpError 404 for a key that has none, else as {@link callS3ForXml}
 */
export async function listKeyVersions(
  s3: S3,
  caller: Caller,
  ref: ObjectRef,
  { maxKeys, versionIdMarker }: KeyVersionOptions,
): Promise<KeyVersionPage> {
  const page = await versionsOfKey(s3, caller, ref, maxKeys, versionIdMarker);
  if (page.versions.length === 0 && versionIdMarker === undefined) throw notFound(resourceOf(ref));
  // What follows may be the versions of another key only.
  const isTruncated = page.next !== null && (await versionsOfKey(s3, caller, ref, 1, page.next)).versions.length > 0;
  return {
    versions: newestFirst(page.versions),
    is_truncated: isTruncated,
    next_version_id_marker: isTruncated ? page.next : null,
    key_count: page.versions.length,
  };
}

/** The key's part of a page of the bucket's versions. `next` is set where the page ended within the key, or at its end. */
async function versionsOfKey(
  s3: S3,
  caller: Caller,
  { bucket, key }: ObjectRef,
  maxKeys: number,
  versionIdMarker: string | undefined,
): Promise<{ readonly versions: readonly KeyVersion[]; readonly next: string | null }> {
  const keyMarker = versionIdMarker === undefined ? undefined : key;
  const call = versionsCall(bucket, { prefix: key, maxKeys, keyMarker, versionIdMarker });
  const { entries, isTruncated, nextVersionIdMarker } = await callS3ForXml(s3, caller, call, parseVersionEntries);
  const versions = entries.filter(({ Key }) => Key === key);
  const isWithin = isTruncated && versions.length > 0 && versions.length === entries.length;
  return { versions, next: isWithin ? nextVersionIdMarker ?? versions[versions.length - 1].VersionId : null };
}

/** Some stores list the delete markers of a page after its versions. */
function newestFirst(versions: readonly KeyVersion[]): KeyVersion[] {
  const time = ({ LastModified }: KeyVersion) => LastModified === null ? 0 : Date.parse(LastModified);
  return versions.toSorted((a, b) => Number(b.IsLatest) - Number(a.IsLatest) || time(b) - time(a));
}
