/**
 * The error codes of the store with their status and message: those of S3, and a few more. The third member is the code
 * that S3 clients get instead; the modelled store has one for a full disk and a full quota, and the status
 * distinguishes them.
 */
const CODES = {
  AccessControlListNotSupported: [400, "The namespace has no access lists"],
  AccessDenied: [403, "Access denied"],
  AccessForbidden: [403, "CORSResponse: no CORS rule allows this origin, method and headers here"],
  AuthorizationHeaderMalformed: [400, "The authorization header is malformed"],
  AuthorizationQueryParametersError: [400, "The authorization query parameters are malformed"],
  BadDigest: [400, "The digest that was sent does not match the body that was received"],
  BadRequest: [400, "The request is not valid"],
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
  LastAdministrator: [
    409,
    "The last enabled ADMINISTRATOR of a tenant cannot be deleted, disabled or demoted: give another account the role first",
  ],
  MalformedACLError: [400, "The access list is not valid"],
  MalformedTrailerError: [400, "The trailer of the body is malformed"],
  MalformedXML: [400, "The XML of the body is not valid"],
  MetadataTooLarge: [400, "The metadata headers hold more than 2 KiB"],
  MethodNotAllowed: [405, "The method is not allowed for this resource"],
  MisdirectedRequest: [421, "The store is known under loopback names only"],
  MissingContentLength: [411, "Content-Length is required"],
  NameTaken: [409, "The bucket name is taken by another owner", "BucketAlreadyExists"],
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
  NotFound: [403, "Access denied", "AccessDenied"],
  NotImplemented: [501, "This part of S3 is not provided"],
  NotModified: [304, ""],
  ObjectLockConfigurationNotFoundError: [404, "The bucket has no object lock"],
  OperationAborted: [409, "The bucket has no versioning, and objects in it must not be overwritten"],
  OutOfSpace: [507, "The disk of the store is full: delete something, or give it more room"],
  NotRecorded: [
    507,
    "Changes cannot be recorded in the audit trail, which is required here: try again later",
    "OutOfSpace",
  ],
  OwnershipControlsNotFoundError: [404, "The bucket has no ownership controls"],
  QuotaExceeded: [413, "No space is left within a quota", "OutOfSpace"],
  PreconditionFailed: [412, "A condition of the request does not hold"],
  ReplicationConfigurationNotFoundError: [404, "The bucket is not replicated"],
  RequestTimeout: [400, "The body was not sent within the timeout period"],
  RequestTimeTooSkewed: [403, "The time of the request is too far from the time of the server"],
  ServerSideEncryptionConfigurationNotFoundError: [404, "The bucket has no encryption of its own"],
  ServiceUnavailable: [503, "The store is stopping"],
  SignatureDoesNotMatch: [403, "The signature does not match the request and the secret key"],
  TooManyBuckets: [
    400,
    "The namespaceQuota of the tenant allows no further bucket: delete one, or have the quota raised",
    "InvalidRequest",
  ],
  TooManyOwned: [
    400,
    "The maxNamespacesPerUser of the tenant allows its owner no further bucket: delete one, " +
    "or have an administrator of the tenant raise it",
    "InvalidRequest",
  ],
  UnresolvableGrantByEmailAddress: [400, "Accounts have no e-mail addresses: grant by ID"],
  XAmzContentSHA256Mismatch: [400, "The body does not match its x-amz-content-sha256"],
} as const satisfies Record<string, readonly [status: number, sentence: string, sent?: string]>;

export type StoreErrorCode = keyof typeof CODES;

/** An error by the rules of the store or of S3. From the writer's thread it comes as its code. */
export class StoreError extends Error {
  override name = "StoreError";
  readonly status: number;
  /** The code in responses of S3. */
  readonly sentCode: string;

  /**
   * @param detail replaces the message of the code
   * @param headers of a response of S3
   */
  constructor(readonly code: StoreErrorCode, detail?: string, readonly headers: Readonly<Record<string, string>> = {}) {
    const [status, message, sent]: readonly [number, string, string?] = CODES[code];
    super(detail ?? message);
    this.status = status;
    this.sentCode = sent ?? code;
  }
}

/**
 * Whether an error says that the disk takes no more, or no file as large: an expected condition, and no fault of the
 * store.
 */
export function isNoSpace(error: unknown): boolean {
  if (error instanceof StoreError) return error.code === "OutOfSpace";
  return error instanceof Error && /no space left|disk is full|quota exceeded|file too large/i.test(error.message);
}
