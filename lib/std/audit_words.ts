/** The actions that the audit trail records. */
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

/** `refused`: for lack of a right. `failed`: it may have happened all the same, or a part of it. */
export const AUDIT_RESULTS = ["succeeded", "refused", "failed"] as const;
export type AuditResult = (typeof AUDIT_RESULTS)[number];

/** The kinds of subjects of a record. */
export type AuditTargetKind =
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
