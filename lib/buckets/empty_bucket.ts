import type { Caller } from "@/lib/auth/store_credentials.ts";
import type { S3 } from "@/lib/s3/client.ts";
import { deleteBatch, type DeleteError, type Deletion, keyPages } from "@/lib/s3/delete_objects.ts";
import { S3Failure } from "@/lib/s3/errors.ts";
import { listVersions, MAX_KEYS } from "@/lib/s3/listing.ts";
import { abortUpload, listUploads } from "@/lib/s3/multipart.ts";
import { forEachConcurrent } from "@/lib/std/for_each_concurrent.ts";

/** Failures that are reported; the others are only counted. */
const REPORTED_FAILURES = 5;
const PARALLEL_ABORTS = 8;

/** What could not be removed. */
export interface Leftovers {
  /** The first few, `key: Code Message`. */
  readonly reported: readonly string[];
  readonly count: number;
}

/**
 * Removes everything in a bucket: uploads in progress, every version and delete marker, every object. It holds two
 * pages of a listing at most, however much there is. What cannot be removed is reported at the end; it stops when the client
 * goes.
 *
 * @throws HttpError 404 when there is no such bucket, 403 when it may not be listed, 499 when the client is gone
 */
export async function emptyBucket(s3: S3, caller: Caller, bucket: string): Promise<Leftovers> {
  const left = new Failures();
  await orUnsupported(abortUploads(s3, caller, bucket, left));
  await orUnsupported(deleteVersions(s3, caller, bucket, left));
  let some = false;
  for await (const keys of keyPages(s3, caller, bucket, "")) {
    some = true;
    await removePage(s3, caller, bucket, keys.map((key) => ({ key })), left);
  }
  // Deleting current objects may have created delete markers.
  if (some) await orUnsupported(deleteVersions(s3, caller, bucket, left));
  return left;
}

class Failures implements Leftovers {
  readonly reported: string[] = [];
  count = 0;

  add(text: string): void {
    this.count++;
    if (this.reported.length < REPORTED_FAILURES) this.reported.push(text);
  }
}

async function deleteVersions(s3: S3, caller: Caller, bucket: string, left: Failures): Promise<void> {
  const read = (keyMarker?: string, versionIdMarker?: string) =>
    listVersions(s3, caller, bucket, { keyMarker, versionIdMarker, maxKeys: MAX_KEYS });
  for await (const page of pages(read, (page) => page.next_version_id_marker)) {
    const batch = [...page.versions, ...page.delete_markers].map(({ Key, VersionId }) => ({
      key: Key,
      versionId: VersionId,
    }));
    if (batch.length > 0) await removePage(s3, caller, bucket, batch, left);
  }
}

/** The pages of a listing that goes on after a key and an id. A store whose markers stand still ends it too. */
async function* pages<P extends { readonly is_truncated: boolean; readonly next_key_marker: string | null }>(
  read: (keyMarker?: string, idMarker?: string) => Promise<P>,
  nextIdMarker: (page: P) => string | null,
): AsyncGenerator<P> {
  let key: string | undefined;
  let id: string | undefined;
  for (;;) {
    const page = await read(key, id);
    yield page;
    const nextKey = page.next_key_marker ?? undefined;
    const nextId = nextIdMarker(page) ?? undefined;
    if (!page.is_truncated || nextKey === undefined || (nextKey === key && nextId === id)) return;
    key = nextKey;
    id = nextId;
  }
}

/** A refused batch costs its own objects only; an unreachable store, or a client that is gone, ends the work. */
async function removePage(
  s3: S3,
  caller: Caller,
  bucket: string,
  batch: readonly Deletion[],
  left: Failures,
): Promise<void> {
  let errors: DeleteError[];
  try {
    errors = await deleteBatch(s3, caller, bucket, batch);
  } catch (error) {
    if (!(error instanceof S3Failure) || error.status === 404) throw error;
    return left.add(`${bucket}: BatchDeleteFailed ${error.message}`);
  }
  for (const { Key, Code, Message } of errors) left.add(`${Key}: ${Code} ${Message ?? ""}`.trimEnd());
}

async function abortUploads(s3: S3, caller: Caller, bucket: string, left: Failures): Promise<void> {
  const read = (keyMarker?: string, uploadIdMarker?: string) =>
    listUploads(s3, caller, bucket, { keyMarker, uploadIdMarker, maxUploads: MAX_KEYS });
  for await (const page of pages(read, (page) => page.next_upload_id_marker)) {
    await forEachConcurrent(page.uploads, PARALLEL_ABORTS, async ({ Key, UploadId }) => {
      try {
        await abortUpload(s3, caller, { bucket, key: Key, uploadId: UploadId });
      } catch (error) {
        if (!(error instanceof S3Failure)) throw error;
        if (error.status !== 404) left.add(`${Key}: ${error.code ?? error.storeStatus} ${error.message}`);
      }
    });
  }
}

/** Stores without versions, or without uploads in parts, have none to remove. */
async function orUnsupported(work: Promise<void>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!(error instanceof S3Failure) || (error.storeStatus !== 501 && error.code !== "NotImplemented")) throw error;
  }
}
