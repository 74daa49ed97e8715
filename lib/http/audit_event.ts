/** The role of this process that handles a request. */
export type HandlingRole = "gateway" | "web" | "results";

/** What the audit trail has records of. The store's own records have the same words; `object_prune` is only theirs. */
export const AUDIT_ACTIONS = [
  "login",
  "login_failed",
  "logout",
  "object_write",
  "object_copy",
  "object_restore",
  "object_delete",
  "object_tags",
  "object_acl",
  "object_share",
  "object_prune",
  "bucket_create",
  "bucket_settings",
  "bucket_acl",
  "bucket_delete",
  "account_create",
  "account_change",
  "account_delete",
  "password_change",
  "group_create",
  "group_change",
  "group_delete",
  "permissions_change",
  "tenant_create",
  "tenant_settings",
  "tenant_delete",
  "content_class_create",
  "content_class_change",
  "content_class_delete",
  "task_start",
  "task_cancel",
  "task_end",
  "audit_export",
  "audit_gap",
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** One of {@link AuditDetails}. */
export type AuditDetail = string | number | boolean | readonly string[];

/**
 * Members of a record beside its target: never a secret, a value of a setting, or anything of a body. What is undefined is
 * left out.
 */
export type AuditDetails = Readonly<Record<string, AuditDetail | undefined>>;

/** What a record is about. */
export interface AuditTarget {
  readonly kind:
    | "object"
    | "objects"
    | "bucket"
    | "account"
    | "group"
    | "tenant"
    | "content_class"
    | "session"
    | "task"
    | "trail";
  readonly bucket?: string;
  readonly key?: string;
  /** What the keys of `objects` begin with. */
  readonly prefix?: string;
  readonly version_id?: string;
  /** Of an account, a group, a tenant or a class. */
  readonly name?: string;
}

/** Who did something. */
export interface AuditActor {
  readonly name: string;
  /** Null: the system level, or a store without tenants. */
  readonly tenant: string | null;
}

/** `refused`: for lack of a right. `failed`: it may have happened all the same, or a part of it. */
export type AuditResult = "succeeded" | "refused" | "failed";

/** Something to be recorded. */
export interface AuditEvent {
  readonly action: AuditAction;
  /** The tenant that it happened to; null: none. */
  readonly tenant: string | null;
  /** Null: not known. */
  readonly actor: AuditActor | null;
  readonly address: string | null;
  readonly requestId: string | null;
  readonly role: HandlingRole | null;
  readonly target: AuditTarget;
  readonly result: AuditResult;
  /** The HTTP status that the client gets; null where there is none. */
  readonly status: number | null;
  readonly details?: AuditDetails;
}

/** Where the events of a process go. */
export interface AuditRecorder {
  /** @throws HttpError 507 where changes are refused because they could not be recorded */
  requireRoom(): void;
  /**
   * Resolves once the event is recorded, or is known not to be.
   *
   * @throws HttpError 507 where a change that was not recorded must not be confirmed
   */
  record(event: AuditEvent): Promise<void>;
  /** Records what no response waits for. */
  note(event: AuditEvent): void;
}

/** A login, or an attempt at one. */
export interface AuditLogin {
  readonly actor: AuditActor;
  readonly address: string | null;
  readonly requestId: string;
  readonly role: HandlingRole;
  readonly status: number;
  /** The form or the protocol, and what it opens. */
  readonly details: AuditDetails;
}

/** Records logins. Several of one name by one request, at several sides, are one record; guesses are counted together. */
export interface LoginRecorder {
  accepted(login: AuditLogin): void;
  failed(login: AuditLogin): void;
  loggedOut(login: AuditLogin): Promise<void>;
}
