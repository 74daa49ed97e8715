import type { AuditAction, AuditTargetKind } from "@/lib/std/audit_words.ts";
import type { StoreErrorCode } from "./store_error.ts";

/** The versioning of a bucket: it never was on, it is, or it was and the old versions remain. */
export type Versioning = "off" | "enabled" | "suspended";

/** Where a received body is: small ones travel with the change, large ones are a file below the data folder. */
export type StoredBody = { data: Uint8Array } | { file: string };

/** The key to delete, or one version of it. */
export interface Deletion {
  readonly key: Uint8Array;
  readonly version: string | null;
  /** Only an object of this ETag; `*` is any. */
  readonly ifMatch?: string | null;
}

/** The outcome of one deletion among several: its result, or an error by the store's rules. */
export type DeleteOutcome = Deleted | { readonly error: StoreErrorCode };

/** A deletion: the version that it removed or the marker that it added. `wasAbsent`: nothing was there to delete. */
export interface Deleted {
  readonly version: VersionId;
  readonly isMarker: boolean;
  readonly wasAbsent: boolean;
}

/** The owner of a document of the management API: a tenant, or one of its namespaces. */
export interface DocumentScope {
  readonly tenant: number;
  /** The bucket's number; 0 for the tenant's own documents. */
  readonly bucket: number;
  /** The last part of its path, such as `contactInfo`. */
  readonly kind: string;
}

/** A document of the management API: `name` is "" for a kind of which there is one. */
export interface NamedDocument extends DocumentScope {
  readonly name: string;
}

/** The settings of an object beside its body. */
export interface ObjectSettings {
  owner: number | null;
  contentType: string;
  /** JSON, as are tags and the access list. */
  headers: string | null;
  tags: string | null;
  acl: string | null;
}

/** An object to write, beside its body. Times are milliseconds since 1970. */
export interface NewObject extends ObjectSettings {
  bucket: number;
  key: Uint8Array;
  size: number;
  etag: string;
  /** JSON: digests in base64 by their algorithm, and their `type`. */
  checksums: string | null;
  condition: WriteCondition | null;
  atMs: number;
}

/** An upload in parts, with the object that it is for. */
export interface UploadName {
  bucket: number;
  key: Uint8Array;
  upload: string;
}

/** A part as CompleteMultipartUpload names it: with its ETag and the stated checksums, in base64 by their algorithm. */
export interface CompletedPart {
  number: number;
  etag: string;
  checksums: Record<string, string>;
}

/** A user account to create; the record is JSON. */
export interface NewUser extends NewGroup {
  passwordMd5: string;
}

/** A group account to create, without members; the record is JSON. */
export interface NewGroup {
  name: string;
  guid: string;
  record: string;
}

/** S3's name of a version; null while the bucket never had versioning. */
export type VersionId = string | null;

/** Condition of a write: the object is absent, has this ETag, or has another ETag. */
export type WriteCondition = { absent: true } | { etag: string } | { otherThan: string };

/**
 * A part of a body that was uploaded in parts: a file, or a row of `bodies`; with its checksum in base64 where its
 * upload has an algorithm.
 */
export type StoredPart = ({ file: string } | { body: number }) & { size: number; checksum?: string };

/** JSON of the column `parts`: the parts in order, and the id of their upload. */
export interface StoredParts {
  upload: string;
  parts: StoredPart[];
}

/** The requester of a change, as the audit trail records it. */
export interface ChangeOrigin {
  /** The account's name; null for a request without credentials. */
  readonly actor: string | null;
  /** Whether the account is one of the system level. */
  readonly isSystem: boolean;
  /** The IP address of the client; null where it is unknown. */
  readonly address: string | null;
  readonly requestId: string | null;
  /** Whether the gateway of this process sent it and records it itself, which it does not for background tasks. */
  readonly isByGateway: boolean;
}

/** The audit record of a change: no secrets, no bodies. */
export interface ReportedChange {
  readonly action: AuditAction;
  /** The tenant that it happened to; null: none. */
  readonly tenant: string | null;
  /** Null: the store itself, or a request without credentials. Without a tenant: an account of the system level. */
  readonly actor: { readonly name: string; readonly tenant: string | null } | null;
  readonly address: string | null;
  readonly requestId: string | null;
  readonly target: {
    readonly kind: AuditTargetKind;
    readonly bucket?: string;
    readonly key?: string;
    readonly version_id?: string;
    /** The name of an account, a group, a tenant or a class. */
    readonly name?: string;
  };
  readonly details: AuditDetails;
}

/** Flat members beside the target. */
export type AuditDetails = Readonly<Record<string, string | number | boolean>>;

/** A login that was refused. */
export interface FailedLogin {
  /** Null: the system level. */
  readonly tenant: string | null;
  /** Empty for one that no account can have. */
  readonly name: string;
  readonly address: string | null;
  readonly requestId: string | null;
  readonly protocol: "s3" | "mapi";
}

/** Receives the reports of the store for the audit trail of the process. */
export interface StoreReports {
  /**
   * Resolves once the records of a change are on the disk. Without any: once there is room for further ones.
   *
   * @throws where the change must not be confirmed without them
   */
  changed(changes: readonly ReportedChange[]): Promise<void>;
  loginFailed(login: FailedLogin): void;
}
