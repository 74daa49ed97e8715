import { isOfStore } from "@/lib/std/audit_words.ts";
import { type AuditFilter, type AuditSource, BadPosition, type ReadRecord, type SourcePage } from "./trail_page.ts";

/** Where a store's page goes on: ms since 1970, and a number. */
const POSITION = /^(\d{1,15})\.\d{1,15}$/;

/** A page of a store's records as it sends them. */
interface StorePage {
  readonly records: readonly {
    readonly id: string;
    readonly time: string;
    readonly tenant: string | null;
    readonly actor: { readonly name: string } | null;
    readonly details: Readonly<Record<string, unknown>>;
  }[];
  readonly next: string | null;
}

type ReadStore = (
  tenant: string | null,
  query: Readonly<Record<string, string | number | undefined>>,
) => Promise<StorePage | "absent" | "refused">;

/** The store's own records beside those of the application, in the same shape. */
interface StoreSource extends AuditSource {
  /** Known once a page was read. `partial`: those of the system level, and of no tenant. */
  readonly state: "included" | "partial" | "absent" | "refused";
}

/** @param tenant whose records; null: those of the system level */
export function recordsOfStore(read: ReadStore, tenant: string | null): StoreSource {
  let state: StoreSource["state"] = "included";
  return {
    get state() {
      return state;
    },
    async page(filter, position, count) {
      if (position !== null && !POSITION.test(position)) throw new BadPosition();
      if (filter.result === "failed" || (filter.action && !isOfStore(filter.action))) return NOTHING;
      const page = await read(tenant, queryOf(filter, position, count));
      if (typeof page === "string") {
        state = page;
        return NOTHING;
      }
      if (tenant === null) state = "partial";
      const records = page.records.map((record) => {
        const atMs = Date.parse(record.time);
        return { record: asRead(record), atMs, position: `${atMs}.${record.id}` };
      });
      const lastMs = records.at(-1)?.atMs ?? 0;
      const searchedToMs = page.next === null ? -Infinity : Number(POSITION.exec(page.next)?.[1] ?? lastMs);
      return { records, next: page.next, searchedToMs };
    },
  };
}

const NOTHING: SourcePage = { records: [], next: null, searchedToMs: -Infinity };

function queryOf(
  { startMs, endMs, actor, action, bucket, prefix, result, requestId }: AuditFilter,
  after: string | null,
  count: number,
) {
  return {
    from: isoOf(startMs),
    to: isoOf(endMs),
    actor,
    action,
    bucket,
    prefix,
    result,
    requestId,
    after: after ?? undefined,
    count,
  };
}

/** The last instant whose year has four digits, as a store reads it; an offset may lead beyond it, or before the year 0. */
const LAST_MS = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

function isoOf(ms: number | undefined): string | undefined {
  return ms === undefined ? undefined : new Date(Math.min(Math.max(ms, 0), LAST_MS)).toISOString();
}

function asRead(record: StorePage["records"][number]): ReadRecord {
  const { system_account: isSystem, ...details } = record.details;
  const { id, time, tenant, actor } = record;
  return {
    ...record,
    v: 1,
    id: `store.${id}`,
    time,
    source: "store",
    role: null,
    actor: actor && { name: actor.name, tenant: isSystem === true ? null : tenant },
    details,
  };
}
