import { clientOf, requestedBy, type StoreContext } from "@/embedded/store/context/store_context.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { Tenant } from "@/embedded/store/stored_accounts.ts";
import { getBucketAcl, getObjectAcl, putBucketAcl, putObjectAcl } from "./access_lists.ts";
import {
  createBucket,
  deleteBucket,
  getBucketLocation,
  getBucketVersioning,
  headBucket,
  putBucketVersioning,
  unsetDeletes,
  unsetObjectReads,
  unsetReads,
} from "./bucket.ts";
import { authenticate, isFailedLogin, type S3Operation } from "./caller.ts";
import { copyObject } from "./copy_object.ts";
import { corsHeaders, deleteBucketCors, getBucketCors, preflightResponse, putBucketCors } from "./cors.ts";
import { listBuckets, listObjects, listObjectsV2, listObjectVersions, METADATA, UNORDERED } from "./listings.ts";
import {
  abortMultipartUpload,
  completeMultipartUpload,
  createMultipartUpload,
  listMultipartUploads,
  listParts,
  uploadPart,
  uploadPartCopy,
} from "./multipart_uploads.ts";
import { getObject, getObjectAttributes, READ_PARAMETERS } from "./read_object.ts";
import { checkHeaders, isHeaderInQuery, withHeadersOfQuery } from "./request_headers.ts";
import { parseS3Request, type S3Request } from "./s3_request.ts";
import {
  deleteObject,
  deleteObjects,
  deleteObjectTagging,
  getObjectTagging,
  putObject,
  putObjectTagging,
} from "./write_object.ts";
import { s3ErrorResponse, toStoreError } from "./xml.ts";

/** The parameter in which some clients name the operation. */
const OPERATION_NAME = "x-id";

/**
 * Serves the S3 requests of one tenant; `address` is the client's IP address. Pages of `origins` may read the
 * responses, as may those that CORS rules allow.
 */
export function s3Handler(
  store: StoreContext,
  tenant: () => Tenant | null,
  origins: ReadonlySet<string>,
): (request: Request, address: string) => Promise<Response> {
  return async (request, address) => {
    const id = crypto.randomUUID();
    let response: Response;
    let cors: Record<string, string> = {};
    try {
      const scope = { store, tenant: tenant(), origins };
      if (request.method === "OPTIONS") {
        response = preflightResponse(request, scope);
      } else {
        // Before the operation, which may remove the bucket or the rules that allow a page to read the response.
        cors = corsHeaders(request, scope);
        if (!scope.tenant) throw new StoreError("AccessDenied");
        response = await handle(store, scope.tenant, parseS3Request(request, store.bodyReader), {
          address,
          requestId: id,
        });
      }
      response.headers.set("x-amz-request-id", id);
    } catch (error) {
      if (isFailedLogin(error)) await store.logins.delayFailure();
      response = s3ErrorResponse(toStoreError(error), { method: request.method, id, resource: pathOf(request.url) });
    }
    for (const [name, value] of Object.entries(cors)) response.headers.set(name, value);
    // The runtime sends no "100 Continue" for an empty body, so the final response comes instead. Botocore then
    // misreads the next response on the connection and waits for its end.
    const isEmpty = request.body === null || request.headers.get("content-length") === "0";
    if (request.headers.has("expect") && isEmpty) response.headers.set("connection", "close");
    return withSandboxHeaders(response);
  };
}

/** Responds to every request with one error, in the form of both protocols. */
export function errorHandler(
  code: "AccessDenied" | "MisdirectedRequest" | "ServiceUnavailable",
): (request: Request) => Response {
  return (request) => {
    const error = new StoreError(code);
    const { method, url } = request;
    const response = s3ErrorResponse(error, { method, id: crypto.randomUUID(), resource: pathOf(url) });
    response.headers.set("x-hcp-errormessage", error.message);
    if (error.status === 503) response.headers.set("retry-after", "5");
    return withSandboxHeaders(response);
  };
}

function handle(
  store: StoreContext,
  tenant: Tenant,
  sent: S3Request,
  connection: { readonly address: string; readonly requestId: string },
): Response | Promise<Response> {
  const isRead = sent.method === "GET" || sent.method === "HEAD";
  const client = clientOf(store, sent.headers, connection);
  const caller = authenticate(sent, store, tenant, { address: connection.address, client });
  const request = withHeadersOfQuery(sent);
  checkHeaders(store, tenant, request);
  const operation = operationOf(request);
  for (const [name] of request.query) {
    const isKnown = operation.marker === name || operation.parameters?.includes(name);
    if (!isKnown && name !== OPERATION_NAME && !isHeaderInQuery(request, name)) {
      throw new StoreError("NotImplemented", `The parameter ${name} is not provided here`);
    }
  }
  const calledStore = isRead ? store : requestedBy(store, caller.user, client);
  const { bucket, key } = request;
  return operation.handle({ store: calledStore, caller, request, bucket: bucket ?? "", key: key ?? "" });
}

/** The operation of a request: one whose marker or header it carries takes precedence over one without. */
function operationOf(request: S3Request): S3Operation {
  const { method } = request;
  const level = request.bucket === null ? "service" : request.key === null ? "bucket" : "object";
  const candidates = Object.hasOwn(S3_OPERATIONS[level], method) ? S3_OPERATIONS[level][method] : [];
  const marked = candidates.filter((one) => (one.marker || one.header) && carries(request, one));
  // The one with both takes precedence: a copied part carries the marker of a part and the header of a copy.
  const operation = marked.find(({ marker, header }) => marker && header) ?? marked[0] ??
    candidates.find(({ marker, header }) => !marker && !header);
  if (operation) return operation;
  // The service has one operation, the list of buckets.
  throw level !== "service" && Object.hasOwn(S3_OPERATIONS.object, method)
    ? new StoreError("NotImplemented", "This operation is not provided here")
    : new StoreError("MethodNotAllowed");
}

function carries(request: S3Request, { marker, markerValue, header }: S3Operation): boolean {
  if (header !== undefined && !request.headers.has(header)) return false;
  if (marker === undefined) return true;
  const value = request.parameter(marker);
  return value !== null && (markerValue === undefined || value === markerValue);
}

function pathOf(url: string): string {
  return url.slice(url.indexOf("/", url.indexOf("://") + 3)).replace(/\?.*$/s, "");
}

/**
 * Adds the security headers of every response. The embedded S3 may share a host with pages of Stackroom: browsers must
 * not sniff stored objects as pages, and a stored page must run no script and have no origin.
 */
function withSandboxHeaders(response: Response): Response {
  response.headers.set("x-content-type-options", "nosniff");
  response.headers.set("content-security-policy", "sandbox");
  return response;
}

type Methods = Readonly<Record<string, readonly S3Operation[]>>;

/** Query parameters that the listings of keys share. */
const LISTING = ["prefix", "delimiter", "encoding-type"];

/** The supported operations of S3, by level and method. Any other request is 501. */
const S3_OPERATIONS: Readonly<Record<"service" | "bucket" | "object", Methods>> = {
  service: {
    GET: [{ parameters: ["prefix", "max-buckets", "continuation-token"], handle: listBuckets }],
  },
  bucket: {
    GET: [
      {
        marker: "list-type",
        markerValue: "2",
        parameters: [...LISTING, "continuation-token", "start-after", "max-keys", "fetch-owner", METADATA, UNORDERED],
        handle: listObjectsV2,
      },
      {
        marker: "uploads",
        parameters: [...LISTING, "key-marker", "upload-id-marker", "max-uploads"],
        handle: listMultipartUploads,
      },
      { parameters: [...LISTING, "marker", "max-keys", UNORDERED], handle: listObjects },
      {
        marker: "versions",
        parameters: [...LISTING, "key-marker", "version-id-marker", "max-keys"],
        handle: listObjectVersions,
      },
      { marker: "versioning", handle: getBucketVersioning },
      { marker: "location", handle: getBucketLocation },
      { marker: "cors", handle: getBucketCors },
      { marker: "acl", handle: getBucketAcl },
      ...unsetReads,
    ],
    HEAD: [{ handle: headBucket }],
    PUT: [
      { handle: createBucket },
      { marker: "versioning", handle: putBucketVersioning },
      { marker: "cors", handle: putBucketCors },
      { marker: "acl", handle: putBucketAcl },
    ],
    POST: [{ marker: "delete", handle: deleteObjects }],
    DELETE: [{ handle: deleteBucket }, { marker: "cors", handle: deleteBucketCors }, ...unsetDeletes],
  },
  object: {
    GET: [
      { parameters: READ_PARAMETERS, handle: getObject },
      { marker: "uploadId", parameters: ["max-parts", "part-number-marker"], handle: listParts },
      { marker: "tagging", parameters: ["versionId"], handle: getObjectTagging },
      { marker: "attributes", parameters: ["versionId"], handle: getObjectAttributes },
      { marker: "acl", parameters: ["versionId"], handle: getObjectAcl },
      ...unsetObjectReads,
    ],
    HEAD: [{ parameters: READ_PARAMETERS, handle: getObject }],
    PUT: [
      { handle: putObject },
      { marker: "uploadId", parameters: ["partNumber"], handle: uploadPart },
      { marker: "uploadId", header: "x-amz-copy-source", parameters: ["partNumber"], handle: uploadPartCopy },
      { header: "x-amz-copy-source", handle: copyObject },
      { marker: "tagging", parameters: ["versionId"], handle: putObjectTagging },
      { marker: "acl", parameters: ["versionId"], handle: putObjectAcl },
    ],
    POST: [
      { marker: "uploads", handle: createMultipartUpload },
      { marker: "uploadId", handle: completeMultipartUpload },
    ],
    DELETE: [
      { parameters: ["versionId"], handle: deleteObject },
      { marker: "uploadId", handle: abortMultipartUpload },
      { marker: "tagging", parameters: ["versionId"], handle: deleteObjectTagging },
    ],
  },
};
