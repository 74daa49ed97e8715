/** The store's own error codes; each protocol translates them into its codes and bodies. */
export type StoreErrorCode =
  | "AccessDenied"
  | "BadDigest"
  | "BucketNotEmpty"
  | "ConditionFailed"
  | "IsMarker"
  | "LastAdministrator"
  | "EntityTooSmall"
  | "InvalidPart"
  | "NameTaken"
  | "NotFound"
  | "NoSuchBucket"
  | "NoSuchKey"
  | "NoSuchVersion"
  | "NoSuchUpload"
  | "OverwriteForbidden"
  | "QuotaExceeded"
  | "TooManyBuckets"
  | "TooManyOwned"
  | "SizeMismatch"
  | "TypeMismatch"
  | "NoSpace"
  | "NotRecorded";

/** Error messages for a bucket beyond a limit, for both protocols. */
export const LIMIT_MESSAGES = {
  TooManyBuckets: "The namespaceQuota of the tenant allows no further bucket: delete one, or have the quota raised",
  TooManyOwned: "The maxNamespacesPerUser of the tenant allows its owner no further bucket: delete one, " +
    "or have an administrator of the tenant raise it",
} as const satisfies Partial<Record<StoreErrorCode, string>>;

/** Its message for both protocols. */
export const NOT_RECORDED = "Changes cannot be recorded in the audit trail, which is required here: try again later";

/** An error by the store's rules. It crosses threads as its code. */
export class StoreError extends Error {
  override name = "StoreError";
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode) {
    super(code);
    this.code = code;
  }
}

/**
 * Whether an error says that the disk takes no more, or no file as large: an expected condition, and no fault of the
 * store.
 */
export function isNoSpace(error: unknown): boolean {
  return error instanceof Error && /no space left|disk is full|quota exceeded|file too large/i.test(error.message);
}
