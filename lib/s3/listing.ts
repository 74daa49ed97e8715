import type { Caller } from "@/lib/auth/store_credentials.ts";
import { callS3, type S3 } from "./client.ts";
import { type ObjectPage, parseObjectPage } from "./list_xml.ts";
import { readXml } from "./read_xml.ts";
import { parseUploadPage, type UploadPage } from "./upload_xml.ts";
import { parseVersionPage, type VersionPage } from "./version_xml.ts";

/** Most entries of one page (S3 API, ListObjectsV2). */
export const MAX_KEYS = 1000;

interface ListOptions {
  readonly prefix?: string;
  readonly delimiter?: string;
  readonly continuationToken?: string;
  /** 0 to {@link MAX_KEYS} */
  readonly maxKeys: number;
}

/** One page of a bucket's objects with their owners. @throws HttpError as {@link callS3} */
export async function listObjects(s3: S3, caller: Caller, bucket: string, options: ListOptions): Promise<ObjectPage> {
  const query: [string, string][] = [
    ["list-type", "2"],
    ["max-keys", String(options.maxKeys)],
    ["fetch-owner", "true"],
    // Keys may hold characters that XML does not allow.
    ["encoding-type", "url"],
  ];
  if (options.prefix) query.push(["prefix", options.prefix]);
  if (options.delimiter) query.push(["delimiter", options.delimiter]);
  if (options.continuationToken) query.push(["continuation-token", options.continuationToken]);
  const resource = `bucket '${bucket}'`;
  const response = await callS3(s3, caller, { method: "GET", bucket, query, resource });
  return await readXml(response, parseObjectPage, resource);
}

interface VersionListOptions {
  readonly prefix?: string;
  readonly keyMarker?: string;
  readonly versionIdMarker?: string;
  /** 0 to {@link MAX_KEYS} */
  readonly maxKeys: number;
}

/** One page of a bucket's versions and delete markers. @throws HttpError as {@link callS3} */
export async function listVersions(
  s3: S3,
  caller: Caller,
  bucket: string,
  options: VersionListOptions,
): Promise<VersionPage> {
  const query: [string, string][] = [["versions", ""], ["max-keys", String(options.maxKeys)], ["encoding-type", "url"]];
  if (options.prefix) query.push(["prefix", options.prefix]);
  if (options.keyMarker) query.push(["key-marker", options.keyMarker]);
  if (options.versionIdMarker) query.push(["version-id-marker", options.versionIdMarker]);
  const resource = `bucket '${bucket}'`;
  const response = await callS3(s3, caller, { method: "GET", bucket, query, resource });
  return await readXml(response, parseVersionPage, resource);
}

interface UploadListOptions {
  readonly prefix?: string;
  readonly keyMarker?: string;
  readonly uploadIdMarker?: string;
  /** 1 to {@link MAX_KEYS} */
  readonly maxUploads: number;
}

/** One page of a bucket's open multipart uploads. @throws HttpError as {@link callS3} */
export async function listUploads(
  s3: S3,
  caller: Caller,
  bucket: string,
  options: UploadListOptions,
): Promise<UploadPage> {
  const query: [string, string][] = [
    ["uploads", ""],
    ["max-uploads", String(options.maxUploads)],
    ["encoding-type", "url"],
  ];
  if (options.prefix) query.push(["prefix", options.prefix]);
  if (options.keyMarker) query.push(["key-marker", options.keyMarker]);
  if (options.uploadIdMarker) query.push(["upload-id-marker", options.uploadIdMarker]);
  const resource = `bucket '${bucket}'`;
  const response = await callS3(s3, caller, { method: "GET", bucket, query, resource });
  return await readXml(response, parseUploadPage, resource);
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
