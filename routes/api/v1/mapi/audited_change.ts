import type { AuditDetails, AuditTarget } from "@/lib/http/audit_event.ts";
import type { AuditSpec } from "@/lib/http/audited.ts";
import type { AuditAction } from "@/lib/std/audit_words.ts";
import { entries, member } from "@/lib/std/untrusted.ts";

/** What is read of the input of a management operation. */
interface ChangeInput {
  readonly params: Readonly<Record<string, string>>;
  readonly body: unknown;
}

/**
 * How a management change is recorded: its target by the names in its path, or in its body where it creates something;
 * of what is set the names alone, and which roles an account has.
 *
 * @param path its template
 */
export function auditOfChange(action: AuditAction, method: string, path: string): AuditSpec<ChangeInput> {
  const setting = settingIn(path);
  return {
    action,
    tenant: ({ params, body }) => params.tenant_name ?? textIn(body, "name") ?? null,
    target: ({ params, body }) => targetOf(action, params, body),
    details: ({ params, body }) => ({
      ...(setting === null ? settingsIn(action, body) : { settings: setting }),
      ...(params.retention_class === undefined ? {} : { retention_class: params.retention_class }),
      ...rolesIn(body),
      ...bucketsIn(body),
      ...(method === "DELETE" && setting !== null ? { removed: true } : {}),
    }),
  };
}

/** The document or the list of settings that a path ends in; null where it is a record, or the list that it is created in. */
function settingIn(path: string): string | null {
  const behind = /\/namespaces\/\{ns\}\/([^{]+?)(?:\/\{\w+\})?$/.exec(path) ??
    /\}\/([^/{}]+(?:\/[^/{}]+)*)$/.exec(path);
  return behind === null || LISTS.has(behind[1]) ? null : behind[1];
}

const LISTS: ReadonlySet<string> = new Set(["userAccounts", "groupAccounts", "contentClasses", "namespaces"]);

function targetOf(action: AuditAction, params: Readonly<Record<string, string>>, body: unknown): AuditTarget {
  const [kind] = action.split("_");
  const name = (parameter: string) => optional("name", params[parameter] ?? textIn(body, parameter));
  if (params.username !== undefined || kind === "account" || kind === "password") {
    return { kind: "account", ...name("username") };
  }
  if (params.groupname !== undefined || kind === "group") return { kind: "group", ...name("groupname") };
  if (kind === "content") return { kind: "content_class", ...name("name") };
  if (params.ns !== undefined || kind === "bucket") {
    return { kind: "bucket", ...optional("bucket", params.ns ?? textIn(body, "name")) };
  }
  return { kind: "tenant", ...optional("name", params.tenant_name ?? textIn(body, "name")) };
}

function optional(member: "name" | "bucket", value: string | undefined): { name?: string; bucket?: string } {
  return value === undefined ? {} : { [member]: value };
}

function textIn(body: unknown, name: string): string | undefined {
  const value = member(body, name);
  return typeof value === "string" ? value : undefined;
}

/** The names of what a change sets; of a password there is nothing to say. */
function settingsIn(action: AuditAction, body: unknown): AuditDetails {
  if (action === "password_change" || action.endsWith("_create") || typeof body !== "object" || body === null) {
    return {};
  }
  const names = Object.keys(body);
  return names.length === 0 ? {} : { settings: names.join(", ") };
}

function rolesIn(body: unknown): AuditDetails {
  const roles = member(body, "roles", "role");
  return Array.isArray(roles) ? { roles: roles.filter((role) => typeof role === "string").join(", ") } : {};
}

/** The buckets in which permissions are set. */
function bucketsIn(body: unknown): AuditDetails {
  const named = entries(member(body, "namespacePermission")).map((permission) => textIn(permission, "namespaceName"));
  return named.length === 0 ? {} : { count: named.length, buckets: named.filter((name) => name !== undefined) };
}
