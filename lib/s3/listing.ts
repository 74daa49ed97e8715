import type { Caller } from "@/lib/auth/store_credentials.ts";
import type { S3, S3Call } from "./client.ts";
import { type ObjectPage, parseObjectPage } from "./list_xml.ts";
import { callS3ForXml } from "./read_xml.ts";
import { parseVersionPage, type VersionPage } from "./version_xml.ts";

/** Most entries of one page (S3 API, ListObjectsV2). */
export const MAX_KEYS = 1000;

interface ListOptions {
  readonly prefix?: string;
  readonly delimiter?: string;
  readonly continuationToken?: string;
  /** The listing begins after this key; without effect beside a token. */
  readonly startAfter?: string;
  /** 0 to {@link MAX_KEYS} */
  readonly maxKeys: number;
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
    "max-keys": options.maxKeys,
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

/** The request of a page of versions and delete markers. */
export function versionsCall(bucket: string, options: VersionListOptions): S3Call {
  const query = queryOf({
    "max-keys": options.maxKeys,
    "encoding-type": "url",
    prefix: options.prefix,
    "key-marker": options.keyMarker,
    "version-id-marker": options.versionIdMarker,
  });
  return { operation: "ListObjectVersions", method: "GET", bucket, query: [["versions", ""], ...query] };
}

/** The pairs of a query, without the parameters that are absent or empty. */
export function queryOf(parameters: Readonly<Record<string, string | number | undefined>>): [string, string][] {
  return Object.entries(parameters).flatMap(([name, value]): [string, string][] =>
    value === undefined || value === "" ? [] : [[name, String(value)]]
  );
}

/**
 * The forms of a store's version ids, markers and tokens, as patterns of JSON Schema. They are shown in the document;
 * the store rejects what has another form. They are known of the embedded store alone, since stores differ.
 */
export interface IssuedForms {
  readonly versionId: string;
  /** Of a listing's next page; empty is the first page, here and below. */
  readonly versionIdMarker: string;
  readonly continuationToken: string;
}

/** The pattern of a text that the store issued, to be spread into its schema; nothing where the forms are unknown. */
export function issuedForm(forms: IssuedForms | null, name: keyof IssuedForms): { readonly pattern?: string } {
  return forms === null ? {} : { pattern: forms[name] };
}
