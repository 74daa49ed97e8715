import { BrokenBody } from "@/embedded/store/bodies.ts";
import { isNoSpace, LIMIT_MESSAGES, StoreError, type StoreErrorCode } from "@/embedded/store/store_error.ts";
import { ChunksTooSmall } from "@/lib/runtime/burst_reader.ts";
import { SlowBody } from "@/lib/std/body_reader.ts";
import { type S3Code, S3Error } from "./s3_error.ts";

/** Translates what an operation threw into S3's errors; an unexpected error is logged and becomes InternalError. */
export function asS3Error(error: unknown): S3Error {
  if (error instanceof S3Error) return error;
  if (error instanceof BrokenBody) return new S3Error("IncompleteBody");
  if (error instanceof SlowBody) return new S3Error("RequestTimeout");
  if (error instanceof ChunksTooSmall) return new S3Error("InvalidRequest", `The body: ${error.message}`);
  if (error instanceof StoreError) {
    const { code } = error;
    if (code === "TooManyBuckets" || code === "TooManyOwned") {
      return new S3Error("InvalidRequest", LIMIT_MESSAGES[code]);
    }
    return new S3Error(CODES[code] ?? "InvalidRequest");
  }
  if (isNoSpace(error)) return new S3Error("OutOfSpace");
  console.error(`embedded store: ${error instanceof Error ? error.stack ?? error.message : error}`);
  return new S3Error("InternalError");
}

/** S3's codes for the store's errors. */
const CODES: Partial<Record<StoreErrorCode, S3Code>> = {
  AccessDenied: "AccessDenied",
  BadDigest: "BadDigest",
  BucketNotEmpty: "BucketNotEmpty",
  ConditionFailed: "PreconditionFailed",
  IsMarker: "MethodNotAllowed",
  EntityTooSmall: "EntityTooSmall",
  InvalidPart: "InvalidPart",
  NameTaken: "BucketAlreadyExists",
  NoSuchBucket: "NoSuchBucket",
  NoSpace: "OutOfSpace",
  NoSuchKey: "NoSuchKey",
  NoSuchVersion: "NoSuchVersion",
  NoSuchUpload: "NoSuchUpload",
  NotFound: "AccessDenied",
  NotRecorded: "NotRecorded",
  OverwriteForbidden: "OperationAborted",
  QuotaExceeded: "QuotaExceeded",
};
