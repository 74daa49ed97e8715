import type { Caller } from "@/lib/auth/store_credentials.ts";
import { clientClosedRequest, HttpError } from "@/lib/http/errors.ts";
import type { Mapi } from "@/lib/mapi/client.ts";
import { namespaceRelease } from "@/lib/mapi/namespaces.ts";
import { deleteBucket } from "@/lib/s3/buckets.ts";
import type { S3 } from "@/lib/s3/client.ts";
import { sleep } from "@/lib/std/sleep.ts";
import { emptyBucket, type Leftovers } from "./empty_bucket.ts";

const TRIES = 3;
const BETWEEN_TRIES_MS = 2000;

export interface ForceDeleteDeps {
  readonly s3: S3;
  /** Of an HCP-type store, whose deletion records only the management API can let go; null elsewhere. */
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
  const conflict = await conflictOf(() => deleteBucket(s3, caller, bucket));
  if (!conflict) return;
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

/** The 409 of a delete; null when it succeeded. */
async function conflictOf(work: () => Promise<void>): Promise<HttpError | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (error instanceof HttpError && error.status === 409) return error;
    throw error;
  }
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
