import type { Caller } from "@/lib/auth/store_credentials.ts";
import { badRequest, HttpError, notFound } from "@/lib/http/errors.ts";
import { getVersioning } from "./buckets.ts";
import { resourceOf, type S3 } from "./s3_client.ts";
import {
  ABSENT,
  currentHeaders,
  type ObjectState,
  type Preconditions,
  requireConditions,
  stateOf,
  unchanged,
} from "./conditions.ts";
import { copyObject } from "./copy.ts";
import { S3Failure } from "./s3_errors.ts";
import { headObject, type ObjectRef, type VersionRef } from "./objects.ts";

/** The current version after a restore. */
interface Restored {
  /** Null where the store did not name it. */
  readonly versionId: string | null;
  readonly etag: string | null;
}

/** How stores say that the condition of a copy does not hold; the second one, that there is no current version now. */
const CHANGED: ReadonlySet<string | null> = new Set(["PreconditionFailed", "NoSuchKey", "ConditionalRequestConflict"]);

/** How S3 names the version of an object that was written without versioning. */
const NULL_VERSION = "null";

/**
 * Makes an old version the current one, by copying it onto its own key with its metadata and tags. Nothing is deleted: a
 * delete marker in front becomes older than the copy. A version that is current already stays as it is. The copy is
 * conditional on what was current before, so that a store that knows such conditions rejects it after a write in between. A
 * caller's own conditions on the current version take the place of that one.
 *
 * @throws HttpError 404 for an unknown version, 400 for a delete marker, 409 where the bucket's versioning is not switched
 *   on, where it cannot be read and the key has a version `null`, or where the object was changed in between, else as {@link copyObject}
 */
export async function restoreVersion(
  s3: S3,
  caller: Caller,
  ref: VersionRef & { readonly versionId: string },
  conditions: Preconditions | null = null,
): Promise<Restored> {
  const { bucket, key, versionId } = ref;
  const unknown = await rejectUnversioned(s3, caller, bucket);
  await requireVersion(s3, caller, ref);
  const current = await currentVersion(s3, caller, { bucket, key });
  requireConditions(conditions, current, { bucket, key });
  if (unknown && current && (current.versionId ?? NULL_VERSION) === NULL_VERSION) throw unknown;
  if (current?.versionId === versionId) return { versionId, etag: current.etag };
  if (unknown) await rejectNullVersion(s3, caller, { bucket, key });
  const whereSupported = current === null ? ABSENT : current.etag === null ? {} : unchanged(current, ref);
  try {
    const copyConditions = { ofTarget: conditions, whereSupported };
    const { etag, headers } = await copyObject(s3, caller, ref, { bucket, key }, copyConditions);
    return { versionId: headers.get("x-amz-version-id"), etag };
  } catch (error) {
    if (conditions || !(error instanceof S3Failure && CHANGED.has(error.code))) throw error;
    throw new HttpError(409, `${resourceOf(ref)}: was changed meanwhile; nothing was restored`, { cause: error });
  }
}

/**
 * Rejects buckets in which a write would replace what it should keep. Only owners may read the setting in some stores.
 *
 * @returns the store's error where the caller may not read it, else null
 */
async function rejectUnversioned(s3: S3, caller: Caller, bucket: string): Promise<HttpError | null> {
  try {
    const { status } = await getVersioning(s3, caller, bucket);
    if (status === "Enabled") return null;
    throw new HttpError(
      409,
      status === null
        ? `bucket '${bucket}': has no versioning, so there are no older versions to restore`
        : `bucket '${bucket}': versioning is suspended, so a restore could replace a version; switch it on first`,
    );
  } catch (error) {
    if (error instanceof S3Failure && error.status === 403) return error;
    throw error;
  }
}

async function requireVersion(s3: S3, caller: Caller, ref: VersionRef): Promise<void> {
  try {
    await headObject(s3, caller, ref);
  } catch (error) {
    if (!(error instanceof S3Failure)) throw error;
    if (error.storeStatus === 404) throw notFound(`version '${ref.versionId}' of ${resourceOf(ref)}`);
    if (error.storeStatus === 405) throw badRequest("version_id: is a delete marker, which cannot be restored");
    throw error;
  }
}

/**
 * Rejects keys of which a version `null` lies behind the current one, or a delete marker of that id: a copy would replace
 * it where versioning is suspended.
 */
async function rejectNullVersion(s3: S3, caller: Caller, key: VersionRef): Promise<void> {
  try {
    await headObject(s3, caller, { ...key, versionId: NULL_VERSION });
  } catch (error) {
    if (error instanceof S3Failure && error.storeStatus === 404) return;
    if (!(error instanceof S3Failure && error.storeStatus === 405)) throw error;
  }
  throw new HttpError(
    409,
    `${resourceOf(key)}: has a version 'null', which a restore would replace if versioning is suspended; ` +
      "only a user who may read that setting can restore it",
  );
}

/** Null where the key has no current version, or a delete marker. */
async function currentVersion(s3: S3, caller: Caller, ref: ObjectRef): Promise<Restored & ObjectState | null> {
  const headers = await currentHeaders(s3, caller, ref);
  return headers && { versionId: headers.get("x-amz-version-id"), ...stateOf(headers) };
}
