import type { Caller } from "@/lib/auth/store_credentials.ts";
import { callS3, type S3 } from "./client.ts";
import { type ObjectPage, parseObjectPage } from "./list_xml.ts";
import { readXml } from "./read_xml.ts";

/** Most entries of one page (S3 API, ListObjectsV2). */
export const MAX_KEYS = 1000;

export interface ListOptions {
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
    // Keys may hold characters that no XML document can.
    ["encoding-type", "url"],
  ];
  if (options.prefix) query.push(["prefix", options.prefix]);
  if (options.delimiter) query.push(["delimiter", options.delimiter]);
  if (options.continuationToken) query.push(["continuation-token", options.continuationToken]);
  const resource = `bucket '${bucket}'`;
  const response = await callS3(s3, caller, { method: "GET", bucket, query, resource });
  return await readXml(response, parseObjectPage, resource);
}
