/** Why the store refuses something, in its own words; each protocol spells it in its own codes and bodies. */
export type RefusalReason =
  | "AccessDenied"
  | "BucketAlreadyExists"
  | "BucketAlreadyOwnedByYou"
  | "BucketNotEmpty"
  | "ConditionFailed"
  | "InvalidName"
  | "NameTaken"
  | "NotFound"
  | "NoSuchBucket"
  | "NoSuchKey"
  | "NoSuchVersion"
  | "TooManyBuckets";

/** A change that the store's rules refuse. It crosses threads as its reason. */
export class Refusal extends Error {
  override name = "Refusal";
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason) {
    super(reason);
    this.reason = reason;
  }
}
