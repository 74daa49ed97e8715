import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { listingStuck } from "@/lib/http/errors.ts";
import { forEachConcurrent } from "@/lib/std/concurrency.ts";
import { callS3ForXml, type S3 } from "./s3_client.ts";
import { cleanMessage, S3Failure } from "./s3_errors.ts";
import { listObjects, type ObjectPage } from "./listing.ts";
import { sendDelete } from "./objects.ts";
import { fitsXml, readListing, xmlBody, xmlElement } from "./s3_xml.ts";

/** Most objects of one multi-delete (S3 API, DeleteObjects). */
export const MAX_BATCH = 1000;
/** Keys that are deleted one by one at the same time. */
const PARALLEL_DELETES = 4;
/** Most reported failures; further ones are only counted. */
const MAX_REPORTED_ERRORS = 1000;

/** An object, or one version of it. */
export interface Deletion {
  readonly key: string;
  readonly versionId?: string | null;
}

/** The outcome for the objects of a request; members of its errors are named as in S3. */
export const bulkDeleted = z.object({
  deleted: z.int().meta({ description: "Requested keys without failures; keys that do not exist count too" }),
  errors: z.array(z.object({
    Key: z.string(),
    Code: z.string(),
    Message: z.string().nullable(),
    VersionId: z.string().optional(),
  })).meta({ description: `First ${MAX_REPORTED_ERRORS} failures` }),
});
type BulkDeleted = z.output<typeof bulkDeleted>;
/** Why one object was not deleted. */
export type DeleteError = BulkDeleted["errors"][number];

/**
 * Deletes objects by their keys, a thousand at a time. Failures are returned, not thrown.
 *
 * @throws HttpError 404 when there is no such bucket
 */
export async function deleteKeys(
  s3: S3,
  caller: Caller,
  bucket: string,
  keys: readonly string[],
): Promise<BulkDeleted> {
  const result: BulkDeleted = { deleted: 0, errors: [] };
  for (let at = 0; at < keys.length; at += MAX_BATCH) {
    const batch = keys.slice(at, at + MAX_BATCH).map((key) => ({ key }));
    addResult(result, batch.length, await deleteBatch(s3, caller, bucket, batch));
  }
  return result;
}

/** Deletes every object under a prefix, page by page. @throws HttpError as {@link deleteKeys} */
export async function deletePrefix(s3: S3, caller: Caller, bucket: string, prefix: string): Promise<BulkDeleted> {
  const result: BulkDeleted = { deleted: 0, errors: [] };
  for await (const objects of objectPages(s3, caller, bucket, prefix)) {
    addResult(result, objects.length, await deleteBatch(s3, caller, bucket, objects.map(({ Key }) => ({ key: Key }))));
  }
  return result;
}

/** The sum of two results. */
export function bothDeleted(one: BulkDeleted, other: BulkDeleted): BulkDeleted {
  return {
    deleted: one.deleted + other.deleted,
    errors: [...one.errors, ...other.errors].slice(0, MAX_REPORTED_ERRORS),
  };
}

/**
 * The objects under a prefix, a page at a time. The next page is read while the caller works on one.
 *
 * @throws HttpError 502 when the store's listing does not advance
 */
export async function* objectPages(
  s3: S3,
  caller: Caller,
  bucket: string,
  prefix: string,
): AsyncGenerator<ObjectPage["objects"]> {
  const read = (continuationToken?: string) => listObjects(s3, caller, bucket, { prefix, continuationToken });
  let continuationToken: string | undefined;
  let reading: Promise<ObjectPage> | null = read();
  while (reading) {
    const page: ObjectPage = await reading;
    const next: string | null = page.is_truncated ? page.next_continuation_token : null;
    const isStuck = page.is_truncated && (next === null || next === continuationToken);
    continuationToken = next ?? undefined;
    reading = next === null || isStuck ? null : read(next);
    // A caller that ends early never awaits the page that is being read.
    reading?.catch(() => {});
    if (page.objects.length > 0) yield page.objects;
    if (isStuck) throw listingStuck(bucket);
  }
}

/**
 * One multi-delete of at most {@link MAX_BATCH} objects. Keys with characters that XML does not allow are deleted one by
 * one.
 *
 * @returns what failed
 * @throws HttpError when the store rejects the whole batch
 */
export async function deleteBatch(
  s3: S3,
  caller: Caller,
  bucket: string,
  batch: readonly Deletion[],
): Promise<DeleteError[]> {
  const allowed = batch.filter(({ key }) => fitsXml(key));
  const errors = allowed.length > 0 ? await multiDelete(s3, caller, bucket, allowed) : [];
  const others = batch.filter(({ key }) => !fitsXml(key));
  await forEachConcurrent(others, PARALLEL_DELETES, async (deletion) => {
    errors.push(...await deleteSingly(s3, caller, bucket, deletion));
  });
  return errors;
}

async function multiDelete(
  s3: S3,
  caller: Caller,
  bucket: string,
  batch: readonly Deletion[],
): Promise<DeleteError[]> {
  const objects = batch.map(({ key, versionId }, index) =>
    `<Object>${xmlElement("Key", key, `keys.${index}`)}${xmlElement("VersionId", versionId)}</Object>`
  );
  const document = xmlBody("Delete", `<Quiet>true</Quiet>${objects.join("")}`);
  return await callS3ForXml(
    s3,
    caller,
    { operation: "DeleteObjects", method: "POST", bucket, query: [["delete", ""]], ...document },
    parseDeleteErrors,
  );
}

async function deleteSingly(s3: S3, caller: Caller, bucket: string, deletion: Deletion): Promise<DeleteError[]> {
  const { key, versionId } = deletion;
  try {
    await sendDelete(s3, caller, { bucket, key, versionId: versionId || undefined });
    return [];
  } catch (error) {
    if (!(error instanceof S3Failure)) throw error;
    const failure = { Key: key, Code: error.code ?? String(error.storeStatus), Message: error.message };
    return [versionId ? { ...failure, VersionId: versionId } : failure];
  }
}

function addResult(result: BulkDeleted, requested: number, errors: readonly DeleteError[]): void {
  result.deleted += Math.max(0, requested - errors.length);
  result.errors.push(...errors.slice(0, MAX_REPORTED_ERRORS - result.errors.length));
}

function parseDeleteErrors(xml: string): DeleteError[] {
  const errors: DeleteError[] = [];
  readListing(xml, "DeleteResult", {
    Error(entry) {
      const Message = entry.get("Message");
      const VersionId = entry.get("VersionId");
      errors.push({
        Key: entry.get("Key") ?? "",
        Code: entry.get("Code") ?? "",
        Message: Message === undefined ? null : cleanMessage(Message),
        ...VersionId ? { VersionId } : {},
      });
    },
  });
  return errors;
}
