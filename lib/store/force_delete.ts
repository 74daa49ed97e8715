import type { Caller } from "@/lib/auth/store_credentials.ts";
import { clientClosedRequest, HttpError } from "@/lib/http/errors.ts";
import type { Mapi } from "@/lib/mapi/mapi_client.ts";
import { namespaceRelease } from "@/lib/mapi/namespaces.ts";
import { deleteBucket } from "@/lib/s3/buckets.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import { deleteBatch, type DeleteError, type Deletion, objectPages } from "@/lib/s3/delete_objects.ts";
import { isUnsupported, S3Failure } from "@/lib/s3/s3_errors.ts";
import { listVersions, markedPages, type Markers, MAX_KEYS } from "@/lib/s3/listing.ts";
import { abortUpload, listUploads } from "@/lib/s3/multipart.ts";
import { forEachConcurrent } from "@/lib/std/concurrency.ts";
import { sleep } from "@/lib/std/timing.ts";

const TRIES = 3;
const BETWEEN_TRIES_MS = 2000;

export interface ForceDeleteDeps {
  readonly s3: S3;
  /** The management API of an HCP-type store, whose deletion records only the management API can let go; null elsewhere. */
  readonly mapi: Mapi | null;
  /** Receives the failures on the way that do not end the work. */
  readonly warn: (text: string) => void;
  /** Waits so long, or throws when the signal aborts. */
  readonly sleep?: (ms: number, signal: AbortSignal | undefined) => Promise<void>;
}

/**
 * Deletes a bucket with everything in it. On an HCP-type store a bucket without objects may still hold deletion records
 * and count as full: then the namespace is set to prune them, and the delete tried again, by S3 and by the management API.
 *
 * @throws HttpError 404 when there is no such bucket; 409 with what stood in the way when it is still not empty
 */
export async function forceDelete(deps: ForceDeleteDeps, caller: Caller, bucket: string): Promise<void> {
  const { s3, mapi, warn } = deps;
  const left = await emptyBucket(s3, caller, bucket);
  if (left.count > 0) warn(`force delete of ${bucket}: ${left.count} not removed, such as ${left.reported.join("; ")}`);
  const conflict = await deleteBucket(s3, caller, bucket).then(() => null, (error) => {
    if (error instanceof HttpError && error.status === 409) return error;
    throw error;
  });
  if (conflict === null) return;
  if (!mapi || caller.tenant === null) throw conflict;
  const release = namespaceRelease(mapi, caller, caller.tenant, bucket);
  await outcome(release.pruneAtOnce, warn);
  await outcome(release.stopSearching, warn);
  for (let tries = 1; tries <= TRIES; tries++) {
    if (tries > 1) {
      await (deps.sleep ?? sleep)(BETWEEN_TRIES_MS, caller.signal);
      if (caller.signal?.aborted) throw clientClosedRequest();
    }
    const byS3 = await outcome(() => deleteBucket(s3, caller, bucket), warn);
    // An earlier try may have succeeded though its response was an error.
    if (byS3 === "done" || byS3 === 404) return;
    if (byS3 === 409 && await outcome(release.remove, warn) === "done") return;
  }
  throw stillThere(bucket, left);
}

/** How a step ended: done, or refused with a status, which is warned of. */
async function outcome(work: () => Promise<void>, warn: (text: string) => void): Promise<"done" | number> {
  try {
    await work();
    return "done";
  } catch (error) {
    // Only a client that is gone, or a fault of our own, ends the work here.
    if (!(error instanceof HttpError) || error.status === 499) throw error;
    warn(`force delete: ${error.message}`);
    return error.status;
  }
}

function stillThere(bucket: string, { reported }: Leftovers): HttpError {
  const reason = reported.length > 0
    ? `Some objects failed to delete: ${reported.join("; ")}`
    : "HCP is still cleaning up internal deletion records. Please try again in a few minutes.";
  return new HttpError(409, `bucket '${bucket}': Could not delete bucket. ${reason}`);
}

/** Failures that are reported; the others are only counted. */
const REPORTED_FAILURES = 5;
const PARALLEL_ABORTS = 8;

/**
 * Removes everything in a bucket: uploads in progress, every version and delete marker, every object. It holds two
 * pages of a listing at most, however much there is. What cannot be removed is reported at the end; it stops when the client
 * goes.
 *
 * @throws HttpError 404 when there is no such bucket, 403 when it may not be listed, 499 when the client is gone
 */
async function emptyBucket(s3: S3, caller: Caller, bucket: string): Promise<Leftovers> {
  const left = new Leftovers();
  const emptying = { s3, caller, bucket, left };
  await orUnsupported(abortUploads(emptying));
  await orUnsupported(deleteVersions(emptying));
  let some = false;
  for await (const objects of objectPages(s3, caller, bucket, "")) {
    some = true;
    await removePage(emptying, objects.map(({ Key }) => ({ key: Key })));
  }
  // Deleting current objects may have created delete markers.
  if (some) await orUnsupported(deleteVersions(emptying));
  return left;
}

/** Objects that could not be removed. */
class Leftovers {
  /** The first few, `key: Code Message`. */
  readonly reported: string[] = [];
  count = 0;

  add(text: string): void {
    this.count++;
    if (this.reported.length < REPORTED_FAILURES) this.reported.push(text);
  }
}

/** A bucket that is being emptied. */
interface Emptying {
  readonly s3: S3;
  readonly caller: Caller;
  readonly bucket: string;
  readonly left: Leftovers;
}

async function deleteVersions(emptying: Emptying): Promise<void> {
  const { s3, caller, bucket } = emptying;
  const read = ({ key, id }: Markers) =>
    listVersions(s3, caller, bucket, { keyMarker: key, versionIdMarker: id, maxKeys: MAX_KEYS });
  for await (const page of markedPages(read, (page) => page.next_version_id_marker)) {
    const batch = [...page.versions, ...page.delete_markers].map(({ Key, VersionId }) => ({
      key: Key,
      versionId: VersionId,
    }));
    if (batch.length > 0) await removePage(emptying, batch);
  }
}

/** A refused batch costs its own objects only; an unreachable store, or a client that is gone, ends the work. */
async function removePage({ s3, caller, bucket, left }: Emptying, batch: readonly Deletion[]): Promise<void> {
  let errors: DeleteError[];
  try {
    errors = await deleteBatch(s3, caller, bucket, batch);
  } catch (error) {
    if (!(error instanceof S3Failure) || error.status === 404) throw error;
    return left.add(`${bucket}: BatchDeleteFailed ${error.message}`);
  }
  for (const { Key, Code, Message } of errors) left.add(`${Key}: ${Code} ${Message ?? ""}`.trimEnd());
}

async function abortUploads({ s3, caller, bucket, left }: Emptying): Promise<void> {
  const read = ({ key, id }: Markers) =>
    listUploads(s3, caller, bucket, { keyMarker: key, uploadIdMarker: id, maxUploads: MAX_KEYS });
  for await (const page of markedPages(read, (page) => page.next_upload_id_marker)) {
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
    if (!isUnsupported(error)) throw error;
  }
}
