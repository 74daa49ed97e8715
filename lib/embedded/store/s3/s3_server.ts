import type { Tenant } from "@/lib/embedded/store/accounts.ts";
import { BrokenBody } from "@/lib/embedded/store/bodies.ts";
import { isNoSpace, Refusal, type RefusalReason } from "@/lib/embedded/store/refusal.ts";
import { createBucket, deleteBucket, headBucket, listBuckets } from "@/lib/embedded/store/s3/bucket_operations.ts";
import { authenticate } from "@/lib/embedded/store/s3/caller.ts";
import { corsHeaders, preflightResponse } from "@/lib/embedded/store/s3/cors.ts";
import { listObjectsV2 } from "@/lib/embedded/store/s3/listing_operation.ts";
import { deleteObject, putObject, readObject } from "@/lib/embedded/store/s3/object_operations.ts";
import { type S3Code, S3Error, s3ErrorResponse } from "@/lib/embedded/store/s3/s3_error.ts";
import { parseS3Request, type S3Request } from "@/lib/embedded/store/s3/s3_request.ts";
import type { StoreParts } from "@/lib/embedded/store/store_parts.ts";

/** Parameters that are part of every operation: the signature's, and the name some clients give the operation. */
const COMMON_PARAMETERS = /^(?:X-Amz-.*|x-id)$/;

/** What each operation reads of the query; anything else names a part of S3 that is not provided. */
const KNOWN_PARAMETERS: Record<string, readonly string[]> = {
  "GET service": [],
  "PUT bucket": [],
  "HEAD bucket": [],
  "DELETE bucket": [],
  "GET bucket": [
    "list-type",
    "prefix",
    "delimiter",
    "continuation-token",
    "start-after",
    "max-keys",
    "fetch-owner",
    "encoding-type",
  ],
  "PUT object": [],
  "GET object": ["versionId", ...responseParameters()],
  "HEAD object": ["versionId", ...responseParameters()],
  "DELETE object": ["versionId"],
};

/** How S3 spells the refusals of the index. */
const REFUSALS: Partial<Record<RefusalReason, S3Code>> = {
  AccessDenied: "AccessDenied",
  BucketNotEmpty: "BucketNotEmpty",
  ConditionFailed: "PreconditionFailed",
  NameTaken: "BucketAlreadyExists",
  NoSuchBucket: "NoSuchBucket",
  NoSpace: "OutOfSpace",
  NoSuchKey: "NoSuchKey",
  NotFound: "AccessDenied",
};

/** Answers S3 requests for one tenant. Pages of `origins` may read the answers. */
export function s3Handler(
  store: StoreParts,
  tenant: () => Tenant | null,
  origins: ReadonlySet<string>,
): (request: Request) => Promise<Response> {
  return async (request) => {
    if (request.method === "OPTIONS") return preflightResponse(request.headers, origins);
    const id = crypto.randomUUID();
    let response: Response;
    try {
      const present = tenant();
      if (!present) throw new S3Error("AccessDenied");
      response = await answer(store, present, parseS3Request(request));
      response.headers.set("x-amz-request-id", id);
    } catch (error) {
      response = s3ErrorResponse(asS3Error(error), { method: request.method, id, resource: pathOf(request.url) });
    }
    for (const [name, value] of Object.entries(corsHeaders(request.headers.get("origin"), origins))) {
      response.headers.set(name, value);
    }
    return response;
  };
}

/** Answers at the system level, which has no buckets: everything is refused, for either protocol. */
export function refusingHandler(request: Request): Response {
  const response = s3ErrorResponse(new S3Error("AccessDenied"), {
    method: request.method,
    id: crypto.randomUUID(),
    resource: pathOf(request.url),
  });
  response.headers.set("x-hcp-errormessage", "Access denied");
  return response;
}

function answer(store: StoreParts, tenant: Tenant, request: S3Request): Response | Promise<Response> {
  const { bucket, key, method } = request;
  const caller = authenticate(request, store.accounts, tenant, store.now());
  const operation = `${method} ${bucket === null ? "service" : key === null ? "bucket" : "object"}`;
  const known = KNOWN_PARAMETERS[operation];
  if (!known) throw new S3Error("MethodNotAllowed");
  for (const [name] of request.query) {
    if (!known.includes(name) && !COMMON_PARAMETERS.test(name)) {
      throw new S3Error("NotImplemented", `The parameter ${name} is not provided here`);
    }
  }
  if (bucket === null) return listBuckets(store, caller.user);
  if (key === null) {
    switch (method) {
      case "PUT":
        return createBucket(store, caller.user, bucket);
      case "HEAD":
        return headBucket(store, caller.user, bucket);
      case "DELETE":
        return deleteBucket(store, caller.user, bucket);
      default:
        if (request.parameter("list-type") !== "2") throw new S3Error("NotImplemented", "Use list-type=2");
        return listObjectsV2(store, caller.user, request, bucket);
    }
  }
  switch (method) {
    case "PUT":
      return putObject(store, caller, request, bucket, key);
    case "DELETE":
      return deleteObject(store, caller, request, bucket, key);
    default:
      return readObject(store, caller, request, bucket, key);
  }
}

function asS3Error(error: unknown): S3Error {
  if (error instanceof S3Error) return error;
  if (error instanceof BrokenBody) return new S3Error("IncompleteBody");
  if (error instanceof Refusal) return new S3Error(REFUSALS[error.reason] ?? "InvalidRequest");
  if (isNoSpace(error)) return new S3Error("OutOfSpace");
  console.error(`embedded store: ${error instanceof Error ? error.stack ?? error.message : error}`);
  return new S3Error("InternalError");
}

function pathOf(url: string): string {
  return url.slice(url.indexOf("/", url.indexOf("://") + 3)).replace(/\?.*$/s, "");
}

function responseParameters(): string[] {
  return ["content-type", "cache-control", "content-disposition", "content-encoding", "content-language", "expires"]
    .map((name) => `response-${name}`);
}
