import { z } from "zod";
import {
  type AuditFilter,
  type AuditPage,
  BadPosition,
  type ChainReader,
  exported,
} from "@/lib/operations/audit/chain_reader.ts";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { compressibleJson } from "@/lib/http/header_values.ts";
import { forbidden, HttpError, invalid } from "@/lib/http/errors.ts";
import type { Operation } from "@/lib/http/operation.ts";
import { streamedText } from "@/lib/http/upstream.ts";
import { requireAuditReader } from "@/lib/mapi/administrators.ts";
import type { Mapi } from "@/lib/mapi/mapi_client.ts";
import { AUDIT_ACTIONS, AUDIT_RESULTS } from "@/lib/std/audit_words.ts";
import type { GatewayOperation } from "./operation.ts";

/** Most records of a page, and how many it has unless another number is stated. */
const MAX_RECORDS = 1000;
const DEFAULT_RECORDS = 100;
/** Most records of an export. */
const MAX_EXPORTED = 100_000;
const MAX_TEXT = 1024;
const MAX_REQUEST_ID = 128;
const MAX_POSITION = 1024;

const FORMATS = ["json", "ndjson", "csv"] as const;
const MEDIA_TYPES = { ndjson: "application/x-ndjson", csv: "text/csv; charset=utf-8" } as const;

const instant = z.iso.datetime({ offset: true });
const text = z.string().min(1).max(MAX_TEXT);

const query = z.object({
  start: instant.optional().meta({ description: "Earliest time, inclusive", examples: ["2026-01-01T00:00:00Z"] }),
  end: instant.optional().meta({ description: "Latest time, exclusive", examples: ["2036-01-01T00:00:00Z"] }),
  actor: text.optional().meta({ description: "Account name, without the tenant", examples: ["curator"] }),
  action: z.enum(AUDIT_ACTIONS).optional(),
  bucket: text.optional().meta({ description: "Name of the bucket", examples: ["letters"] }),
  prefix: text.optional().meta({ description: "Key prefix" }),
  result: z.enum(AUDIT_RESULTS).optional(),
  request_id: z.string().min(1).max(MAX_REQUEST_ID).optional(),
  tenant: text.optional().meta({ description: "Tenant, for accounts of the system level" }),
  count: z.int().min(1).max(MAX_EXPORTED).optional().meta({
    description:
      `Maximum number of records. Of a page: up to ${MAX_RECORDS}, ${DEFAULT_RECORDS} by default; of an export: ` +
      `up to ${MAX_EXPORTED.toLocaleString("en")}, which is the default`,
  }),
  after: z.string().max(MAX_POSITION).optional().meta({ description: "`next` of the previous page" }),
  format: z.enum(FORMATS).default("json").meta({
    description: "`ndjson` and `csv` export all matching records in one response",
  }),
});

const record = z.object({
  v: z.literal(1),
  id: z.string(),
  time: z.string().meta({ description: "ISO 8601 with milliseconds, UTC" }),
  source: z.enum(["application", "store"]),
  role: z.enum(["gateway", "web", "results", "store"]).nullable(),
  action: z.enum(AUDIT_ACTIONS),
  tenant: z.string().nullable().meta({ description: "Tenant that was changed" }),
  actor: z.object({ name: z.string(), tenant: z.string().nullable() }).nullable(),
  address: z.string().nullable(),
  request_id: z.string().nullable(),
  target: z.object({
    kind: z.string(),
    bucket: z.string().optional(),
    key: z.string().optional(),
    prefix: z.string().optional(),
    version_id: z.string().optional(),
    name: z.string().optional(),
  }),
  result: z.enum(AUDIT_RESULTS),
  status: z.int().nullable(),
  details: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.array(z.string())])),
}).meta({ id: "AuditRecord" });

const page = z.object({
  records: z.array(record).meta({ description: "Newest first" }),
  next: z.string().nullable().meta({
    description: "Position of the next page; null at the end. A short page may have one",
  }),
  searched_to: z.string().nullable().meta({
    description: "Time down to which the page was searched; null at the end",
  }),
  sources: z.object({
    application: z.enum(["process", "none"]).meta({
      description: "`process`: records of this process; `none`: no readable records",
    }),
  }),
}).meta({ id: "AuditPage" });

interface AuditRoutes {
  /** Null where the store has no management API. */
  readonly mapi: Mapi | null;
  /** Null where this process cannot read what it has recorded. */
  readonly reader: ChainReader | null;
}

/** The audit trail, for administrators. */
export function auditOperations(operation: GatewayOperation, { mapi, reader }: AuditRoutes): Operation[] {
  return [
    operation({
      id: "list_audit_records",
      method: "GET",
      path: "/api/v1/audit",
      tag: "Audit",
      summary: "List or export audit records",
      description:
        "Requires the role ADMINISTRATOR or SECURITY. Tenant accounts read the records of their tenant, accounts of the " +
        "system level those of all tenants.",
      query,
      audit: {
        action: "audit_export",
        isRead: ({ query: { format } }) => format === "json",
        target: () => ({ kind: "trail" }),
        details: ({ query: { format, start, end } }) => ({
          format,
          ...(start === undefined ? {} : { start }),
          ...(end === undefined ? {} : { end }),
        }),
      },
      responses: {
        200: {
          description: "A page of records, or all matching records as `application/x-ndjson` or `text/csv`",
          schema: page,
        },
        403: { description: "The account lacks the role, or asks for another tenant" },
        422: { description: "Invalid parameter" },
        501: { description: "The store has no administrator accounts" },
      },
      async handler({ caller, query }, context) {
        const filter = filterOf(query, caller);
        if (query.format === "json" && (query.count ?? 0) > MAX_RECORDS) {
          throw bad("count", `Input should be less than or equal to ${MAX_RECORDS}`);
        }
        if (mapi === null) {
          throw new HttpError(501, "The audit trail is not readable here: the store has no accounts with rights");
        }
        await requireAuditReader(mapi, caller);
        const read = async (position: string | null, count: number) => {
          try {
            return await reader?.page(filter, position, count) ?? NO_RECORDS;
          } catch (error) {
            throw error instanceof BadPosition ? bad("after", "Input should be the next of a page before") : error;
          }
        };
        if (query.format !== "json") {
          const chunks = exported(
            query.format,
            (next, count) => read(next ?? query.after ?? null, count),
            query.count ?? MAX_EXPORTED,
          );
          return new Response(await streamedText(chunks, "an export of the audit trail", context), {
            headers: {
              "Content-Type": MEDIA_TYPES[query.format],
              "Content-Disposition": `attachment; filename="audit.${query.format}"`,
            },
          });
        }
        const { records, next, searchedToMs } = await read(
          query.after ?? null,
          query.count ?? DEFAULT_RECORDS,
        );
        return compressibleJson(context.request, {
          records,
          next,
          searched_to: searchedToMs === null ? null : new Date(searchedToMs).toISOString(),
          sources: { application: reader ? "process" : "none" },
        });
      },
    }),
  ];
}

const NO_RECORDS: AuditPage = { records: [], next: null, searchedToMs: null };

/** @throws HttpError 422 for an end that is not after the start, 403 for another tenant */
function filterOf(
  { start, end, actor, action, bucket, prefix, result, request_id, tenant }: z.output<typeof query>,
  caller: Caller,
): AuditFilter {
  const startMs = start === undefined ? undefined : Date.parse(start);
  const endMs = end === undefined ? undefined : Date.parse(end);
  if (startMs !== undefined && endMs !== undefined && endMs <= startMs) throw bad("end", "Input should be after start");
  const asked = tenant?.toLowerCase();
  const own = caller.tenant?.toLowerCase();
  if (own !== undefined && asked !== undefined && asked !== own) {
    throw forbidden("The audit trail of another tenant is for its own administrators and those of the system level");
  }
  const name = actor?.toLowerCase();
  return { startMs, endMs, actor: name, action, bucket, prefix, result, requestId: request_id, tenant: own ?? asked };
}

function bad(parameter: string, msg: string): HttpError {
  return invalid([{ type: "value_error", loc: ["query", parameter], msg }]);
}
