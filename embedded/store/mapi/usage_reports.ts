import { USAGE_HOURS } from "@/embedded/store/context/store_context.ts";
import type { Statements } from "@/embedded/store/statements.ts";
import type { Holdings } from "@/embedded/store/stored_accounts.ts";
import type { Bucket } from "@/embedded/store/stored_buckets.ts";
import { USAGE_POINTS } from "@/embedded/store/writer/usage_changes.ts";
import { invalid, mapiTime, permittedNamespace, requireRight, type TenantRequest } from "./mapi_request.ts";

const MS_PER_SECOND = 1000;
const MS_PER_HOUR = 60 * 60 * MS_PER_SECOND;
const HOURS_PER_DAY = 24;

/** The name of the store in reports. */
const SYSTEM_NAME = "stackroom";

/** GET /tenants/{tenant}/statistics */
export function readTenantStatistics({ store, caller, tenant }: TenantRequest): Response {
  requireRight(caller, "read figures");
  return statisticsResponse(store.accounts.holdings(tenant.id));
}

/** GET /tenants/{tenant}/namespaces/{namespace}/statistics */
export function readNamespaceStatistics(request: TenantRequest): Response {
  const { storedCount, storedBytes, partBytes } = permittedNamespace(request, "read figures");
  return statisticsResponse({ objects: storedCount, bytes: storedBytes, partBytes });
}

/** There are no annotations, and nothing is shredded. */
function statisticsResponse({ objects, bytes, partBytes }: Holdings): Response {
  return Response.json({
    objectCount: objects,
    ingestedVolume: bytes,
    storageCapacityUsed: bytes + partBytes,
    customMetadataCount: 0,
    customMetadataSize: 0,
    shredCount: 0,
    shredSize: 0,
  });
}

/** GET /tenants/{tenant}/chargebackReport?start=&end=&granularity=: sums over all namespaces, deleted ones included. */
export function readTenantChargeback(request: TenantRequest): Promise<Response> {
  requireRight(request.caller, "read figures");
  return report(request, null, request.tenant.createdMs);
}

/** GET /tenants/{tenant}/namespaces/{namespace}/chargebackReport?start=&end=&granularity= */
export function readNamespaceChargeback(request: TenantRequest): Promise<Response> {
  const namespace = permittedNamespace(request, "read figures");
  return report(request, namespace, namespace.createdMs);
}

async function report(
  { store, query, tenant }: TenantRequest,
  namespace: Bucket | null,
  createdMs: number,
): Promise<Response> {
  const intervals = statedIntervals(query, createdMs, store.now());
  // Reads are written in groups: the pending ones belong into the report as well.
  await store.reads.flush();
  const used = usageDuring(store.index, tenant.id, namespace?.id ?? null, intervals);
  return Response.json({
    chargebackData: used.map(({ hasDeleted, ...figures }, i) => ({
      systemName: SYSTEM_NAME,
      tenantName: tenant.name,
      ...(namespace ? { namespaceName: namespace.name } : {}),
      startTime: mapiTime(intervals[i].first * MS_PER_HOUR),
      endTime: mapiTime((intervals[i].last + 1) * MS_PER_HOUR - MS_PER_SECOND),
      ...figures,
      storageCapacityUsed: figures.ingestedVolume + figures.multipartUploadBytes,
      deleted: hasDeleted ? "included" : "false",
      valid: true,
    })),
  });
}

/**
 * The intervals of a query, widened to whole ones: hours, days of UTC, or one from start to end. Times before the
 * creation, before the retained history or after the present are left out; an end before the start selects no interval.
 *
 * @throws {MapiError} 400
 */
function statedIntervals(query: URLSearchParams, createdMs: number, nowMs: number): Interval[] {
  const granularity = query.get("granularity") ?? "total";
  if (!["hour", "day", "total"].includes(granularity)) throw invalid("granularity", "must be hour, day or total");
  const present = Math.floor(nowMs / MS_PER_HOUR);
  const oldest = Math.max(Math.floor(createdMs / MS_PER_HOUR), present - USAGE_HOURS);
  const [start, end] = ["start", "end"].map((name) => statedHour(query.get(name), name));
  if (start !== null && end !== null && start > end) return [];
  const step = granularity === "day" ? HOURS_PER_DAY : 1;
  // The first interval is whole as well: nothing happened before the creation.
  const first = Math.floor(Math.max(start ?? oldest, oldest) / step) * step;
  const last = Math.min(end ?? present, present);
  if (first > last) return [];
  if (granularity === "total") return [{ first, last }];
  const count = Math.floor((last - first) / step) + 1;
  return Array.from({ length: count }, (_, i) => ({ first: first + i * step, last: first + (i + 1) * step - 1 }));
}

/**
 * The hour since 1970 of a time such as 2026-11-01T00:00:00+0000, or a date; null without one.
 *
 * @throws {MapiError} 400
 */
function statedHour(text: string | null, name: string): number | null {
  if (text === null || text === "") return null;
  // A plus sign that was not encoded arrives as a space.
  const known = /^(\d{4}-\d{2}-\d{2})(?:T(\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)(Z|[+ -]\d{2}:?\d{2})?)?$/.exec(text);
  const zone = (known?.[3] ?? "Z").replace(" ", "+").replace(/^([+-]\d{2})(\d{2})$/, "$1:$2");
  const ms = known ? Date.parse(`${known[1]}T${known[2] ?? "00:00"}${zone}`) : NaN;
  if (Number.isNaN(ms)) throw invalid(name, "must be a time such as 2026-11-01T00:00:00+0000");
  return Math.floor(ms / MS_PER_HOUR);
}

/** Traffic and operations within an interval, with the columns of the index. */
const FLOWS = {
  bytesIn: "bytes_in",
  bytesOut: "bytes_out",
  reads: "reads",
  writes: "writes",
  deletes: "deletes",
} as const;

/** The usage of an interval, and whether a bucket that is gone by now contributed. */
type Used = Record<Figure, number> & { hasDeleted: boolean };

/** Hours since 1970, both within the interval. */
interface Interval {
  first: number;
  last: number;
}

type Figure = keyof typeof FLOWS | keyof typeof USAGE_POINTS;

const FIGURES = Object.entries({ ...FLOWS, ...USAGE_POINTS });

type Point = Record<Figure, number> & Readonly<Record<"bucket" | "hour" | "isDeleted", number>>;

/**
 * Usage of a tenant's buckets, or of one of them, by intervals in ascending order. Hours without an entry have no
 * traffic, and store what the entry before them did. Memory is bounded by the intervals, whatever the buckets.
 */
export function usageDuring(
  index: Statements,
  tenant: number,
  bucket: number | null,
  intervals: readonly Interval[],
): Used[] {
  const sums = intervals.map(nothing);
  let row: Point | null = null;
  let at = 0;
  // The last entry of a bucket holds for the end of each interval until the next entry.
  const holdUntil = (hour: number) => {
    while (at < intervals.length && intervals[at].last < hour) {
      if (row) add(sums[at], row, USAGE_POINTS);
      at++;
    }
  };
  for (const next of points(index, tenant, bucket, intervals.at(-1)?.last ?? -1)) {
    if (next.bucket !== row?.bucket) {
      holdUntil(Infinity);
      at = 0;
      row = null;
    }
    holdUntil(next.hour);
    row = next;
    if (at < intervals.length && intervals[at].first <= next.hour) {
      add(sums[at], next, FLOWS);
      sums[at].hasDeleted ||= next.isDeleted === 1;
    }
  }
  holdUntil(Infinity);
  return sums;
}

function points(index: Statements, tenant: number, bucket: number | null, end: number): Generator<Point> {
  const figures = FIGURES.map(([name, column]) => `${column} AS ${name}`);
  return index.eachRecord<Point>(
    `SELECT bucket, hour, NOT EXISTS (SELECT 1 FROM buckets WHERE id = bucket) AS isDeleted, ${figures} FROM usage
     WHERE tenant = ? AND hour <= ? ${bucket === null ? "" : "AND bucket = ?"} ORDER BY bucket, hour`,
    ...(bucket === null ? [tenant, end] : [tenant, end, bucket]),
  );
}

function nothing(): Used {
  const zeros = Object.fromEntries(FIGURES.map(([name]) => [name, 0]));
  return { ...zeros as Omit<Used, "hasDeleted">, hasDeleted: false };
}

function add(sum: Used, point: Point, figures: Readonly<Partial<Record<Figure, string>>>): void {
  for (const name of Object.keys(figures) as Figure[]) sum[name] += point[name];
}
