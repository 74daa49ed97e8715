import type { ChangeOrigin, ReportedChange } from "./reported_change.ts";
import type { DocumentScope } from "./documents.ts";
import type { StoreErrorCode } from "./store_error.ts";

/** The versioning of a bucket: it never was on, it is, or it was and the old versions remain. */
export type Versioning = "off" | "enabled" | "suspended";

/** Where a received body is: small ones travel with the change, large ones are a file below the data folder. */
export type StoredBody = { data: Uint8Array } | { file: string };

/** Every change of the index, with its input and its result. Times are milliseconds since 1970. */
interface Changes {
  createTenant: {
    input: { name: string; record: string; firstUser: NewUser | null; firstGroup?: NewGroup | null; atMs: number };
    result: { id: number };
  };
  /** Rejected with BucketNotEmpty while the tenant has buckets. */
  deleteTenant: { input: { tenant: number }; result: null };
  /** `isRecovery`: rejected unless it gives an enabled administrator to a tenant that has none. */
  createUser: {
    input: NewUser & { tenant: number; isRecovery?: boolean };
    result: { id: number };
  };
  deleteUser: { input: { user: number }; result: null };
  /** The owner, where there is one, gets `ownerPermissions` on the new bucket. */
  createBucket: {
    input: {
      tenant: number;
      name: string;
      guid: string;
      owner: number | null;
      ownerPermissions: number;
      versioning: Versioning;
      /** JSON: the settings of versioning that were set; none by default. */
      versionSettings?: string;
      record: string;
      /** An access list as JSON. */
      acl?: string | null;
      /** Whether the owner's namespaces are limited by the tenant's `maxNamespacesPerUser`. */
      isLimited?: boolean;
      atMs: number;
    };
    result: { id: number };
  };
  deleteBucket: { input: { bucket: number }; result: null };
  setVersioning: { input: { bucket: number; versioning: Versioning }; result: null };
  grant: { input: { user: number; bucket: number; permissions: number }; result: null };
  putObject: {
    input: ObjectSettings & {
      bucket: number;
      key: Uint8Array;
      body: StoredBody;
      size: number;
      etag: string;
      /** JSON: digests in base64 by their algorithm, and what they are of. */
      checksums: string | null;
      condition: WriteCondition | null;
      atMs: number;
    };
    /** Whether it took the place of a current version. */
    result: { version: VersionId; replaced: boolean };
  };
  /**
   * Without a version: the key is deleted, by a marker where the bucket has versioning. `wasAbsent`: nothing was there
   * to delete.
   */
  deleteObject: {
    input: Deletion & { bucket: number; atMs: number };
    result: { version: VersionId; isMarker: boolean; wasAbsent: boolean };
  };
  /** Several deletions in one bucket, in their order. One that fails does not affect the others. */
  deleteObjects: {
    input: { bucket: number; objects: readonly Deletion[]; atMs: number };
    result: { outcomes: readonly DeleteOutcome[] };
  };
  /** The tags (JSON) of a key's current version, or of the one that is named; null removes them. */
  setTags: {
    input: { bucket: number; key: Uint8Array; version: string | null; tags: string | null };
    result: { version: VersionId };
  };
  createUpload: {
    input: UploadName & ObjectSettings & {
      checksumAlgorithm: string | null;
      checksumType: string | null;
      atMs: number;
    };
    result: null;
  };
  putPart: {
    input: UploadName & {
      number: number;
      body: StoredBody;
      size: number;
      etag: string;
      /** JSON: digests in base64 by their algorithm. */
      checksums: string | null;
      atMs: number;
    };
    result: null;
  };
  completeUpload: {
    input: UploadName & {
      /** In ascending order. */
      parts: CompletedPart[];
      /** What the sender says of the whole: digests in base64 by their algorithm, and how many bytes it has. */
      checksums: Record<string, string>;
      size: number | null;
      by: number;
      condition: WriteCondition | null;
      atMs: number;
    };
    /** `written` is null where the same upload was completed before. */
    result: {
      version: VersionId;
      etag: string;
      checksums: Record<string, string> | null;
      written: { size: number; replaced: boolean } | null;
    };
  };
  abortUpload: { input: UploadName & { atMs: number }; result: null };
  expireUploads: { input: { atMs: number }; result: { expired: number } };
  /** Merges what is stated; the owner named gets the permissions beside those it has, null takes the owner away. */
  updateBucket: {
    input: {
      bucket: number;
      name?: string;
      owner?: number | null;
      ownerPermissions: number;
      /** Members of the record. */
      settings: Record<string, unknown>;
    };
    result: null;
  };
  /** Merges settings, or resets them to the defaults. */
  setVersionSettings: {
    input: { bucket: number; versioning: Versioning | null; settings: Record<string, unknown> | "defaults" };
    result: null;
  };
  pruneVersions: {
    input: { atMs: number };
    result: { pruned: number; buckets: readonly { bucket: number; pruned: number }[] };
  };
  clearDeletionRecords: { input: Record<never, never>; result: { cleared: number } };
  /** CORS rules (XML); null removes them. */
  setBucketCors: { input: { bucket: number; cors: string | null }; result: { hadRules: boolean } };
  setTenantCors: { input: { tenant: number; cors: string | null }; result: { hadRules: boolean } };
  /** An access list as JSON; null removes it. */
  setBucketAcl: { input: { bucket: number; acl: string | null }; result: null };
  setObjectAcl: { input: { bucket: number; key: Uint8Array; seq: number; acl: string | null }; result: null };
  /** The record is JSON, the members are numbers of users of the tenant. */
  createGroup: {
    input: { tenant: number; name: string; guid: string; record: string; members: readonly number[] };
    result: { id: number };
  };
  /** Members of the record that are left out stay, as do the group's members where `members` is null. */
  modifyGroup: {
    input: { group: number; record: Record<string, unknown>; members: readonly number[] | null };
    result: null;
  };
  deleteGroup: { input: { group: number }; result: null };
  /** The data access permissions of a user or a group in some buckets, as masks. */
  setGrants: {
    input: { to: { user: number } | { group: number }; grants: readonly { bucket: number; permissions: number }[] };
    result: null;
  };
  /** Members of a tenant's record. */
  modifyTenant: { input: { tenant: number; record: Record<string, unknown> }; result: null };
  modifyUser: {
    input: {
      user: number;
      record: Record<string, unknown>;
      passwordMd5: string | null;
      unlock: boolean;
      /** As for `createUser`. */
      isRecovery?: boolean;
    };
    result: null;
  };
  /** `limit` 0 never locks; `unlockAfterMs` null: a locked account stays so. */
  countFailure: { input: { user: number; limit: number; unlockAfterMs: number | null; atMs: number }; result: null };
  resetFailures: { input: { user: number }; result: null };
  /** What a document decides, such as the mask of permissions, follows with it. */
  setDocument: {
    input: NamedDocument & { mode: "create" | "modify" | "set"; document: Record<string, unknown> };
    result: null;
  };
  deleteDocument: { input: NamedDocument; result: null };
  /** How far the audit trail of the application has got, which has files of its own. */
  noteAuditEnd: { input: { end: Record<string, unknown> }; result: null };
  /** Hours since 1970. */
  countReads: {
    input: { reads: readonly { bucket: number; hour: number; reads: number; bytesOut: number }[] };
    result: null;
  };
  expireUsage: { input: { beforeHour: number }; result: null };
}

/** What is deleted: a key, or a version of it. */
interface Deletion {
  readonly key: Uint8Array;
  readonly version: string | null;
  /** Only an object of this ETag; `*` is any. */
  readonly ifMatch?: string | null;
}

/**
 * The outcome of one deletion among several: its result, an error by the store's rules, or the fault that ended them
 * before it was committed.
 */
export type DeleteOutcome =
  | Result<"deleteObject">
  | { readonly error: StoreErrorCode }
  | { readonly fault: string };

/** A document of the management API: `name` is "" for a kind of which there is one. */
interface NamedDocument extends DocumentScope {
  readonly name: string;
}

/** What a writer states of an object beside its body. */
interface ObjectSettings {
  owner: number | null;
  contentType: string;
  /** JSON, as are tags and the access list. */
  headers: string | null;
  tags: string | null;
  acl: string | null;
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

/** What must be true of the present object for a write to happen: that there is none, or that its ETag is this or another one. */
export type WriteCondition = { absent: true } | { etag: string } | { otherThan: string };

export type ChangeKind = keyof Changes;

export type Input<K extends ChangeKind> = Changes[K]["input"];

export type Result<K extends ChangeKind> = Changes[K]["result"];

/** One change with what it takes, and who requested it; absent for the store's own work. */
export type Change = { [K in ChangeKind]: { kind: K; input: Input<K>; origin?: ChangeOrigin } }[ChangeKind];

/**
 * The outcome of a change: its result with what the audit trail gets, an error by the store's rules, or a fault (damaged
 * file).
 */
export type Outcome =
  | { ok: true; result: Result<ChangeKind>; reports: readonly ReportedChange[] }
  | { ok: false; error: StoreErrorCode }
  | { ok: false; fault: string };

/**
 * A part of a body that was uploaded in parts: a file, or a row of `bodies`; with its checksum in base64 where its
 * upload has an algorithm.
 */
export type StoredPart = ({ file: string } | { body: number }) & { size: number; checksum?: string };

/** What the column `parts` holds, as JSON: the parts in their order, and the id of their upload. */
export interface StoredParts {
  upload: string;
  parts: StoredPart[];
}
