/** The audit trail: an extension of ours, which other stores with this API do not have. */
import { z } from "zod";
import { SYSTEM } from "@/embedded/store/accounts.ts";
import type { AuditPosition } from "@/embedded/store/audit_records.ts";
import { STORE_AUDIT_ACTIONS } from "@/lib/std/audit_words.ts";
import { boolean, integer, members, oneOf, parsed, rule } from "./body_schema.ts";
import { requireRight } from "./mapi_caller.ts";
import { forbidden } from "./mapi_error.ts";
import type { MapiRequest, TenantRequest } from "./mapi_request.ts";

/** Most records of a page, and how many it has unless another number is stated. */
const MAX_RECORDS = 1000;
const DEFAULT_RECORDS = 100;

const TIME = "must be an instant of ISO 8601 with its offset, such as 2026-11-23T10:00:00Z";
const instant = z.iso.datetime({ offset: true, ...rule(TIME) }).transform((text) => Date.parse(text));

const POSITION = "must be the next of a page before";
const position = z.string().regex(/^[0-9]{1,15}\.[0-9]{1,15}$/, POSITION).transform((text): AuditPosition => {
  const [atMs, id] = text.split(".").map(Number);
  return { atMs, id };
});

/** A key may hold control characters, and so may what is looked for. */
function anyText(longest: number) {
  return z.string().max(longest, `must have ${longest} characters at most`);
}

const QUERY = members({
  from: instant,
  to: instant,
  action: oneOf(...STORE_AUDIT_ACTIONS),
  actor: anyText(1024),
  bucket: anyText(1024),
  prefix: anyText(1024),
  requestId: anyText(128),
  result: oneOf("succeeded", "refused"),
  direct: boolean,
  after: position,
  count: integer(1, MAX_RECORDS),
});

/** GET /tenants/{tenant}/auditRecords: what happened to a tenant, for its administrators and security officers. */
export function readTenantAudit(request: TenantRequest): Response {
  requireRight(request.caller, "manage users");
  return pageResponse(request, request.tenant.id);
}

/** GET /auditRecords at the system level: what happened to no tenant, and what accounts of that level did. */
export function readSystemAudit(request: MapiRequest): Response {
  if (request.caller.tenant) throw forbidden();
  requireRight(request.caller, "manage users");
  return pageResponse(request, SYSTEM);
}

function pageResponse({ store, query }: MapiRequest, tenant: number): Response {
  const { from, to, after, count = DEFAULT_RECORDS, ...filter } = parsed(QUERY, Object.fromEntries(query));
  const { records, next } = store.audit.page(
    tenant,
    { ...filter, fromMs: from, beforeMs: to },
    after ?? null,
    count,
  );
  return Response.json({ auditRecord: records, next: next && `${next.atMs}.${next.id}` });
}
