import { Buffer } from "node:buffer";
import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { notFound } from "@/lib/http/errors.ts";
import { compareText } from "@/lib/std/text.ts";
import { callS3ForXml, resourceOf, type S3, type S3Call } from "./s3_client.ts";
import type { ObjectRef } from "./objects.ts";
import {
  count,
  isTrue,
  MalformedXml,
  nameReader,
  optionalTime,
  owner,
  ownerOf,
  readListing,
  type XmlMembers,
} from "./s3_xml.ts";

/** Most entries of one page (S3 API, ListObjectsV2). */
export const MAX_KEYS = 1000;

interface ListOptions {
  readonly prefix?: string;
  readonly delimiter?: string;
  readonly continuationToken?: string | null;
  /** The listing starts after this key; ignored with a token. */
  readonly startAfter?: string | null;
  /** 0 to {@link MAX_KEYS}, which is the default. */
  readonly maxKeys?: number;
  /** Whether the owner of each object is read too, which costs some stores a look-up each; else it is null. */
  readonly fetchOwner?: boolean;
}

/** One page of a bucket's objects. @throws HttpError as {@link callS3ForXml} */
export async function listObjects(s3: S3, caller: Caller, bucket: string, options: ListOptions): Promise<ObjectPage> {
  return await callS3ForXml(s3, caller, objectsCall(bucket, options), parseObjectPage);
}

/** The request of a page of objects. */
function objectsCall(bucket: string, options: ListOptions): S3Call {
  const query = queryOf({
    "list-type": 2,
    "max-keys": options.maxKeys ?? MAX_KEYS,
    "fetch-owner": options.fetchOwner ? "true" : undefined,
    // Keys may hold characters that XML does not allow.
    "encoding-type": "url",
    prefix: options.prefix,
    delimiter: options.delimiter,
    "continuation-token": options.continuationToken,
    // S3 ignores it beside a token. Other stores need not.
    "start-after": options.continuationToken ? undefined : options.startAfter,
  });
  return { operation: "ListObjectsV2", method: "GET", bucket, query };
}

/** The pairs of a query, without the parameters that are absent or empty. */
export function queryOf(parameters: Readonly<Record<string, string | number | null | undefined>>): [string, string][] {
  return Object.entries(parameters).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === null || value === "" ? [] : [[name, String(value)]]
  );
}

/** A page of an object listing, members of its entries named as in S3. */
export const objectPage = z.object({
  objects: z.array(z.object({
    Key: z.string(),
    Size: z.int().meta({ description: "bytes" }),
    /** ISO 8601 in UTC, a fraction only when it is not zero. */
    LastModified: z.string().nullable(),
    /** With its quotes. */
    ETag: z.string().nullable(),
    StorageClass: z.string().nullable(),
    Owner: owner.nullable(),
  })),
  common_prefixes: z.array(z.string()),
  is_truncated: z.boolean(),
  next_continuation_token: z.string().nullable(),
  key_count: z.int(),
});
export type ObjectPage = z.output<typeof objectPage>;

/** Reads a ListObjectsV2 response. @throws MalformedXml for any other document */
export function parseObjectPage(xml: string): ObjectPage {
  const objects: ObjectPage["objects"] = [];
  const prefixes: string[] = [];
  const members = readListing(xml, "ListBucketResult", {
    Contents(entry) {
      objects.push({
        Key: nameIn(entry, "Key"),
        Size: count(entry.get("Size") ?? "0"),
        LastModified: optionalTime(entry.get("LastModified")),
        ETag: entry.get("ETag") ?? null,
        StorageClass: entry.get("StorageClass") || null,
        Owner: ownerOf({ ID: entry.get("Owner/ID"), DisplayName: entry.get("Owner/DisplayName") }),
      });
    },
    CommonPrefixes: (entry) => prefixes.push(nameIn(entry, "Prefix")),
  });
  const decoded = nameReader(members.get("EncodingType"));
  for (const object of objects) object.Key = decoded(object.Key);
  const keyCount = members.get("KeyCount");
  return {
    objects,
    common_prefixes: prefixes.map(decoded),
    is_truncated: isTrue(members.get("IsTruncated")),
    next_continuation_token: members.get("NextContinuationToken") || null,
    key_count: keyCount === undefined ? objects.length + prefixes.length : count(keyCount),
  };
}

/** The name of an entry. @throws MalformedXml where it has none */
function nameIn(entry: XmlMembers, member: string): string {
  const name = entry.get(member);
  if (name === undefined) throw new MalformedXml("an entry without a name");
  return name;
}

/** A page of a listing, as numbers. */
export interface CountPage {
  readonly keys: number;
  /** Sum of the sizes. */
  readonly bytes: number;
  readonly prefixes: readonly string[];
  /** The first and the last key or common prefix, in the order of UTF-8 bytes; null on an empty page. */
  readonly first: string | null;
  readonly last: string | null;
  readonly isTruncated: boolean;
  readonly token: string | null;
  /** The same page without what lies outside of (`after`, `end`]; null is no limit. */
  within(after: string | null, end: string | null): CountPage;
}

/** One page of a bucket's keys, reduced to the numbers for counting. @throws HttpError as {@link callS3ForXml} */
export async function readCountPage(s3: S3, caller: Caller, bucket: string, options: ListOptions): Promise<CountPage> {
  return await callS3ForXml(s3, caller, objectsCall(bucket, options), parseCountPage);
}

/** Reads the numbers of a ListObjectsV2 response. @throws MalformedXml */
export function parseCountPage(xml: string): CountPage {
  const { objects, common_prefixes: prefixes, is_truncated: isTruncated, next_continuation_token: token } =
    parseObjectPage(xml);
  return pageOf(objects, prefixes, { isTruncated, token: ownText(token) });
}

/** Copies a text that outlives its page: V8 would retain the whole page for a slice of it. */
function ownText(slice: string | null): string | null {
  return slice && Buffer.from(slice, "utf8").toString("utf8");
}

function pageOf(
  objects: readonly { readonly Key: string; readonly Size: number }[],
  prefixes: readonly string[],
  rest: Pick<CountPage, "isTruncated" | "token">,
): CountPage {
  const names = [...objects.map(({ Key }) => Key), ...prefixes];
  return {
    keys: objects.length,
    bytes: objects.reduce((sum, { Size }) => sum + Size, 0),
    prefixes,
    first: outermost(names, 1),
    last: ownText(outermost(names, -1)),
    ...rest,
    within(after, end) {
      const isIn = (name: string) =>
        (after === null || compareText(name, after) > 0) && (end === null || compareText(name, end) <= 0);
      return pageOf(objects.filter(({ Key }) => isIn(Key)), prefixes.filter(isIn), rest);
    },
  };
}

/** The first name, or with -1 the last one; null without any. */
function outermost(names: readonly string[], sign: 1 | -1): string | null {
  let found: string | null = null;
  for (const name of names) if (found === null || compareText(name, found) * sign < 0) found = name;
  return found;
}

const marker = z.object({
  Key: z.string(),
  VersionId: z.string().nullable(),
  IsLatest: z.boolean(),
  /** ISO 8601 in UTC, a fraction only when it is not zero. */
  LastModified: z.string().nullable(),
  Owner: owner.nullable(),
});

/** A page of versions and delete markers, members of its entries named as in S3. */
export const versionPage = z.object({
  versions: z.array(marker.extend({
    ETag: z.string().nullable(),
    Size: z.int().meta({ description: "bytes" }),
    StorageClass: z.string().nullable(),
  })),
  delete_markers: z.array(marker),
  is_truncated: z.boolean(),
  next_key_marker: z.string().nullable(),
  next_version_id_marker: z.string().nullable(),
  key_count: z.int().meta({ description: "Versions and delete markers of this page" }),
});
type VersionPage = z.output<typeof versionPage>;

/** One version of a key, or a delete marker of it, members named as in S3. */
const keyVersion = marker.extend({
  IsDeleteMarker: z.boolean(),
  ETag: z.string().nullable(),
  Size: z.int().nullable().meta({ description: "bytes; null for a delete marker" }),
  StorageClass: z.string().nullable(),
});
export type KeyVersion = z.output<typeof keyVersion>;

/** A page of versions in the order of the store. */
interface VersionEntries {
  readonly entries: readonly KeyVersion[];
  readonly isTruncated: boolean;
  readonly nextKeyMarker: string | null;
  readonly nextVersionIdMarker: string | null;
}

interface VersionListOptions {
  readonly prefix?: string;
  readonly keyMarker?: string;
  readonly versionIdMarker?: string;
  /** 0 to {@link MAX_KEYS} */
  readonly maxKeys: number;
}

/** One page of a bucket's versions and delete markers. @throws HttpError as {@link callS3ForXml} */
export async function listVersions(
  s3: S3,
  caller: Caller,
  bucket: string,
  options: VersionListOptions,
): Promise<VersionPage> {
  return await callS3ForXml(s3, caller, versionsCall(bucket, options), parseVersionPage);
}

/** A position in a listing of versions or uploads. */
export interface Markers {
  readonly key?: string;
  readonly id?: string;
}

/**
 * Pages of a listing of versions or uploads.
 *
 * @param from continues after this position
 * @param stuck the error for a store whose markers do not advance; absent: the listing ends there
 */
export async function* markedPages<
  P extends { readonly is_truncated: boolean; readonly next_key_marker: string | null },
>(
  read: (markers: Markers) => Promise<P>,
  nextId: (page: P) => string | null,
  from: Markers = {},
  stuck?: () => Error,
): AsyncGenerator<P> {
  for (let at = from;;) {
    const page = await read(at);
    const next = { key: page.next_key_marker ?? undefined, id: nextId(page) ?? undefined };
    const isStuck = page.is_truncated && (next.key === undefined || (next.key === at.key && next.id === at.id));
    if (isStuck && stuck) throw stuck();
    yield page;
    if (!page.is_truncated || isStuck) return;
    at = next;
  }
}

/** The request of a page of versions and delete markers. */
function versionsCall(bucket: string, options: VersionListOptions): S3Call {
  const query = queryOf({
    "max-keys": options.maxKeys,
    "encoding-type": "url",
    prefix: options.prefix,
    "key-marker": options.keyMarker,
    "version-id-marker": options.versionIdMarker,
  });
  return { operation: "ListObjectVersions", method: "GET", bucket, query: [["versions", ""], ...query] };
}

/** Reads a ListObjectVersions response. @throws MalformedXml for any other document */
export function parseVersionEntries(xml: string): VersionEntries {
  const entries: KeyVersion[] = [];
  const members = readListing(xml, "ListVersionsResult", {
    Version: (entry) => entries.push(versionOf(entry, false)),
    DeleteMarker: (entry) => entries.push(versionOf(entry, true)),
  });
  const decoded = nameReader(members.get("EncodingType"));
  for (const entry of entries) entry.Key = decoded(entry.Key);
  return {
    entries,
    isTruncated: isTrue(members.get("IsTruncated")),
    nextKeyMarker: decoded(members.get("NextKeyMarker") ?? "") || null,
    nextVersionIdMarker: members.get("NextVersionIdMarker") || null,
  };
}

function versionOf(entry: XmlMembers, IsDeleteMarker: boolean): KeyVersion {
  return {
    Key: nameIn(entry, "Key"),
    VersionId: entry.get("VersionId") ?? null,
    IsLatest: isTrue(entry.get("IsLatest")),
    LastModified: optionalTime(entry.get("LastModified")),
    Owner: ownerOf({ ID: entry.get("Owner/ID"), DisplayName: entry.get("Owner/DisplayName") }),
    IsDeleteMarker,
    ETag: IsDeleteMarker ? null : entry.get("ETag") ?? null,
    Size: IsDeleteMarker ? null : count(entry.get("Size") ?? "0"),
    StorageClass: IsDeleteMarker ? null : entry.get("StorageClass") || null,
  };
}

/** The same, versions and delete markers apart. */
export function parseVersionPage(xml: string): VersionPage {
  const { entries, isTruncated, nextKeyMarker, nextVersionIdMarker } = parseVersionEntries(xml);
  const versions: VersionPage["versions"] = [];
  const markers: VersionPage["delete_markers"] = [];
  for (const { IsDeleteMarker, ETag, Size, StorageClass, ...marker } of entries) {
    if (IsDeleteMarker) markers.push(marker);
    else versions.push({ ...marker, ETag, Size: Size ?? 0, StorageClass });
  }
  return {
    versions,
    delete_markers: markers,
    is_truncated: isTruncated,
    next_key_marker: nextKeyMarker,
    next_version_id_marker: nextVersionIdMarker,
    key_count: entries.length,
  };
}

/** A page of the versions of one key, the newest first. */
export const keyVersionPage = z.object({
  versions: z.array(keyVersion),
  is_truncated: z.boolean(),
  next_version_id_marker: z.string().nullable(),
  key_count: z.int().meta({ description: "Versions and delete markers of this page" }),
});
type KeyVersionPage = z.output<typeof keyVersionPage>;

/** The page starts after the marker. */
type KeyVersionOptions = Pick<VersionListOptions, "maxKeys" | "versionIdMarker">;

/**
 * One page of the versions and delete markers of a key. S3 lists those of all keys with this prefix; the key itself comes
 * first.
 *
 * @throws HttpError 404 for a key that has none, else as {@link callS3ForXml}
 */
export async function listKeyVersions(
  s3: S3,
  caller: Caller,
  ref: ObjectRef,
  options: KeyVersionOptions,
): Promise<KeyVersionPage> {
  const page = await versionsOfKey(s3, caller, ref, options);
  if (page.versions.length === 0 && options.versionIdMarker === undefined) throw notFound(resourceOf(ref));
  // The next page may have versions of other keys only.
  const isTruncated = page.next !== null &&
    (await versionsOfKey(s3, caller, ref, { maxKeys: 1, versionIdMarker: page.next })).versions.length > 0;
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
  { maxKeys, versionIdMarker }: KeyVersionOptions,
): Promise<{ readonly versions: readonly KeyVersion[]; readonly next: string | null }> {
  const keyMarker = versionIdMarker === undefined ? undefined : key;
  const call = versionsCall(bucket, { prefix: key, maxKeys, keyMarker, versionIdMarker });
  const { entries, isTruncated, nextVersionIdMarker } = await callS3ForXml(s3, caller, call, parseVersionEntries);
  const versions = entries.filter(({ Key }) => Key === key);
  const isWithin = isTruncated && versions.length > 0 && versions.length === entries.length;
  return { versions, next: isWithin ? nextVersionIdMarker ?? versions[versions.length - 1].VersionId : null };
}

/** Sorts a page: some stores list its delete markers after its versions. */
function newestFirst(versions: readonly KeyVersion[]): KeyVersion[] {
  const time = ({ LastModified }: KeyVersion) => LastModified === null ? 0 : Date.parse(LastModified);
  return versions.toSorted((a, b) => Number(b.IsLatest) - Number(a.IsLatest) || time(b) - time(a));
}

/**
 * The forms of a store's version ids, markers and tokens, as patterns of JSON Schema. They are shown in the document;
 * the store rejects what has another form. They are known of the embedded store alone, since stores differ.
 */
export interface IssuedForms {
  readonly versionId: string;
  /** The marker of a listing's next page; empty is the first page, here and below. */
  readonly versionIdMarker: string;
  readonly continuationToken: string;
}

/** The pattern of a text that the store issued, to be spread into its schema; nothing where the forms are unknown. */
export function issuedForm(forms: IssuedForms | null, name: keyof IssuedForms): { readonly pattern?: string } {
  return forms === null ? {} : { pattern: forms[name] };
}
