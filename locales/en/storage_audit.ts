import type { AuditAction, AuditResult } from "@/lib/std/audit_words.ts";
import { counted } from "@/lib/pages/locale/figures.ts";

/** The words of the page of the audit trail: headings, fields, columns. */
export const LABELS = {
  trail: "Audit trail",
  filter: "Filter",
  filtered: "Filter (in use)",
  apply: "Show these records",
  all: "Show all records",
  start: "From (UTC)",
  end: "Before (UTC)",
  actor: "Who: name of the account",
  action: "What",
  anything: "anything",
  bucket: "Bucket",
  prefix: "Keys that begin with",
  result: "Result",
  any: "any",
  request: "Id of the request",
  tenant: "Tenant",
  records: "Records",
  time: "When (UTC)",
  who: "Who",
  target: "To what",
  details: "Details",
  next: "Older records",
  newest: "The newest records",
  export: "Records",
  csv: "CSV",
  ndjson: "NDJSON",
  nobody: "not logged in",
  unknown: "–",
  status: "Status",
  version: "Version",
  source: "Recorded by",
  ofStore: "the store",
};

/** What was done. */
export const ACTIONS: Readonly<Record<AuditAction, string>> = {
  login: "logged in",
  login_failed: "login failed",
  logout: "logged out",
  object_write: "wrote an object",
  object_copy: "copied an object",
  object_restore: "restored a version",
  object_delete: "deleted",
  object_tags: "changed tags",
  object_acl: "changed who may access an object",
  object_share: "shared by a link",
  object_prune: "old versions were removed",
  bucket_create: "created a bucket",
  bucket_settings: "changed settings of a bucket",
  bucket_acl: "changed who may access a bucket",
  bucket_delete: "deleted a bucket",
  account_create: "created an account",
  account_change: "changed an account",
  account_delete: "deleted an account",
  password_change: "changed a password",
  group_create: "created a group",
  group_change: "changed a group",
  group_delete: "deleted a group",
  permissions_change: "changed permissions",
  tenant_create: "created a tenant",
  tenant_settings: "changed settings of a tenant",
  tenant_delete: "deleted a tenant",
  content_class_create: "created a content class",
  content_class_change: "changed a content class",
  content_class_delete: "deleted a content class",
  task_start: "started a task",
  task_cancel: "cancelled a task",
  task_end: "a task ended",
  audit_export: "exported the audit trail",
  audit_gap: "records were lost",
};

/** How it ended. */
export const RESULTS: Readonly<Record<AuditResult, string>> = {
  succeeded: "done",
  refused: "refused",
  failed: "failed",
};

/** What something was done to, where it has no name. */
export const KINDS: Readonly<Record<string, string>> = {
  objects: "objects",
  session: "session",
  task: "task",
  trail: "the trail",
};

/** The sentences of the page of the audit trail. */
export const SENTENCES = {
  whatItIs: "Who logged in, and who changed what, the newest first. Each record is named by the id of its request.",
  none: "No record matches the filter.",
  nothing: "There are no records yet.",
  searched: (moment: string) => `Searched back to ${moment}. Older records may match.`,
  shown: (records: number) => counted(records, "record", "records"),
  noApplication: "This server keeps no records that can be read here.",
  forbidden:
    "Only administrators and security officers of a tenant may read its audit trail. Ask an administrator of the tenant " +
    "for the role ADMINISTRATOR or SECURITY, or for an export.",
  otherTenant: "Only a tenant's own administrators and accounts of the system level may read its records.",
  unsupported:
    "The store has no accounts with roles, so the server cannot tell who is an administrator. Ask the operator where the " +
    "records are sent.",
  missing: "This server has no audit trail.",
  noTime: (field: string) => `“${field}” is not a time. Type it as 2026-11-27T14:30.`,
  wrong: (message: string) => `The filter cannot be used: ${message}`,
};
