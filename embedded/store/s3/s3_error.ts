import { percentDecoded } from "@/lib/std/text.ts";
import { NOT_RECORDED } from "@/embedded/store/store_error.ts";
import { escapeXml } from "./xml.ts";

/**
 * S3's error codes in use here, each with its status and its message, and with the code on the wire where that differs.
 */
const CODES = {
  AccessControlListNotSupported: [400, "The namespace has no access lists"],
  AccessDenied: [403, "Access denied"],
  AccessForbidden: [403, "CORSResponse: no CORS rule allows this origin, method and headers here"],
  AuthorizationHeaderMalformed: [400, "The authorization header is malformed"],
  AuthorizationQueryParametersError: [400, "The authorization query parameters are malformed"],
  BadDigest: [400, "The digest that was sent does not match the body that was received"],
  BadRequest: [400, "The request is not valid"],
  BucketAlreadyExists: [409, "The bucket name is taken by another owner"],
  BucketAlreadyOwnedByYou: [409, "The bucket exists, and is yours"],
  BucketNotEmpty: [409, "The bucket is not empty: objects, versions or delete markers remain"],
  EntityTooLarge: [400, "The body is larger than a single write may be"],
  EntityTooSmall: [400, "A part other than the last is smaller than 5 MiB"],
  IncompleteBody: [400, "The body is shorter than its Content-Length"],
  InternalError: [500, "The store could not complete the request"],
  InvalidAccessKeyId: [403, "The access key belongs to no active user of this tenant"],
  InvalidArgument: [400, "An argument is not valid"],
  InvalidBucketName: [400, "The bucket name is not valid"],
  InvalidDigest: [400, "The digest header is not valid"],
  InvalidPart: [400, "A part is missing, or is not the one that was uploaded"],
  InvalidPartNumber: [416, "The object has no part of this number"],
  InvalidPartOrder: [400, "The parts are not in ascending order"],
  InvalidRange: [416, "The range cannot be satisfied"],
  InvalidRequest: [400, "The request is not valid"],
  InvalidStorageClass: [400, "The storage class is not one that is stored"],
  InvalidTag: [400, "A tag is not valid"],
  InvalidURI: [400, "The path is not valid"],
  KeyTooLongError: [400, "The key is longer than 1024 bytes"],
  MalformedACLError: [400, "The access list is not valid"],
  MalformedTrailerError: [400, "The trailer of the body is malformed"],
  MalformedXML: [400, "The XML of the body is not valid"],
  MetadataTooLarge: [400, "The metadata headers hold more than 2 KiB"],
  MethodNotAllowed: [405, "The method is not allowed for this resource"],
  MisdirectedRequest: [421, "The store is known under loopback names only"],
  MissingContentLength: [411, "Content-Length is required"],
  NoSuchBucket: [404, "The specified bucket does not exist"],
  NoSuchBucketPolicy: [404, "The bucket has no policy"],
  NoSuchConfiguration: [404, "The bucket has no such configuration"],
  NoSuchCORSConfiguration: [404, "The bucket has no CORS rules"],
  NoSuchKey: [404, "The specified key does not exist"],
  NoSuchLifecycleConfiguration: [404, "The bucket has no lifecycle rules"],
  NoSuchObjectLockConfiguration: [404, "The object is not locked"],
  NoSuchPublicAccessBlockConfiguration: [404, "The bucket has no public access block"],
  NoSuchTagSet: [404, "The bucket has no tags"],
  NoSuchUpload: [404, "The upload does not exist: it may have been completed or aborted"],
  NoSuchVersion: [404, "The version does not exist"],
  NoSuchWebsiteConfiguration: [404, "The bucket is no website"],
  NotImplemented: [501, "This part of S3 is not provided"],
  NotModified: [304, ""],
  ObjectLockConfigurationNotFoundError: [404, "The bucket has no object lock"],
  OperationAborted: [409, "The bucket has no versioning, and objects in it must not be overwritten"],
  OutOfSpace: [507, "The disk of the store is full: delete something, or give it more room"],
  NotRecorded: [507, NOT_RECORDED, "OutOfSpace"],
  OwnershipControlsNotFoundError: [404, "The bucket has no ownership controls"],
  QuotaExceeded: [413, "No space is left within a quota", "OutOfSpace"],
  PreconditionFailed: [412, "A condition of the request does not hold"],
  ReplicationConfigurationNotFoundError: [404, "The bucket is not replicated"],
  RequestTimeout: [400, "The body was not sent within the timeout period"],
  RequestTimeTooSkewed: [403, "The time of the request is too far from the time of the server"],
  ServerSideEncryptionConfigurationNotFoundError: [404, "The bucket has no encryption of its own"],
  ServiceUnavailable: [503, "The store is stopping"],
  SignatureDoesNotMatch: [403, "The signature does not match the request and the secret key"],
  UnresolvableGrantByEmailAddress: [400, "Accounts have no e-mail addresses: grant by ID"],
  XAmzContentSHA256Mismatch: [400, "The body does not match its x-amz-content-sha256"],
} as const satisfies Record<string, readonly [status: number, sentence: string, sent?: string]>;

export type S3Code = keyof typeof CODES;

/** An error response of the S3 protocol. `detail` replaces the message of the code. */
export class S3Error extends Error {
  override name = "S3Error";
  readonly code: S3Code;
  readonly status: number;
  /** Headers of the response. */
  readonly headers: Record<string, string>;

  constructor(code: S3Code, detail?: string, headers: Record<string, string> = {}) {
    super(detail ?? CODES[code][1]);
    this.code = code;
    this.status = CODES[code][0];
    this.headers = headers;
  }
}

/** The response to an error: S3's XML, or no body where HTTP forbids one. */
export function s3ErrorResponse(error: S3Error, request: { method: string; id: string; resource: string }): Response {
  const headers = new Headers({ ...error.headers, "x-amz-request-id": request.id });
  if (request.method === "HEAD" || error.status === 304) return new Response(null, { status: error.status, headers });
  headers.set("content-type", "application/xml");
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${sentCode(error.code)}</Code>` +
    `<Message>${escapeXml(error.message)}</Message>${nameElement(error, request.resource)}` +
    `<Resource>${escapeXml(request.resource)}</Resource>` +
    `<RequestId>${request.id}</RequestId><HostId>stackroom</HostId></Error>`;
  return new Response(body, { status: error.status, headers });
}

/** The modelled store has one code for a full disk and a full quota; the status distinguishes them. */
function sentCode(code: S3Code): string {
  const [, , sent]: readonly [number, string, string?] = CODES[code];
  return sent ?? code;
}

/** The element that names the bucket, or the key where the request has one and the bucket exists. */
function nameElement(error: S3Error, resource: string): string {
  const path = percentDecoded(resource.slice(1));
  if (path === null) return "";
  const slash = path.indexOf("/");
  const bucket = slash < 0 ? path : path.slice(0, slash);
  const key = slash < 0 ? "" : path.slice(slash + 1);
  if (bucket === "") return "";
  if (key !== "" && error.code !== "NoSuchBucket") return `<Key>${escapeXml(key)}</Key>`;
  return `<BucketName>${escapeXml(bucket)}</BucketName>`;
}
