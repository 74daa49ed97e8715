import { csvField } from "@/lib/std/csv_field.ts";
import { member } from "@/lib/std/untrusted.ts";
import type { AuditRecord } from "./audit_record.ts";
import type { AuditPage } from "./chain_reader.ts";
import { jsonText, oneLine } from "./json_text.ts";

/** Records of a page that an export reads at a time. */
const PAGE_RECORDS = 1000;

/** How a trail is exported. */
type ExportFormat = "ndjson" | "csv";

/** Columns of CSV, and the member of a record that each one has. */
const COLUMNS: readonly (readonly [string, ...string[]])[] = [
  ["time", "time"],
  ["id", "id"],
  ["source", "source"],
  ["role", "role"],
  ["action", "action"],
  ["result", "result"],
  ["status", "status"],
  ["tenant", "tenant"],
  ["actor", "actor", "name"],
  ["actor_tenant", "actor", "tenant"],
  ["address", "address"],
  ["request_id", "request_id"],
  ["target", "target", "kind"],
  ["bucket", "target", "bucket"],
  ["key", "target", "key"],
  ["prefix", "target", "prefix"],
  ["version_id", "target", "version_id"],
  ["name", "target", "name"],
];

/**
 * All records of a search as text, a page at a time.
 *
 * @param read returns `count` records at most, after those of the page before
 * @param max how many records are written
 */
export async function* exported(
  format: ExportFormat,
  read: (position: string | null, count: number) => Promise<AuditPage>,
  max: number,
): AsyncGenerator<string> {
  if (format === "csv") yield `${COLUMNS.map(([name]) => name).join(",")},details\r\n`;
  let left = max;
  let position: string | null = null;
  do {
    const page: AuditPage = await read(position, Math.min(left, PAGE_RECORDS));
    left -= page.records.length;
    position = page.next;
    yield page.records.map(format === "csv" ? csvLine : jsonLine).join("");
  } while (position !== null && left > 0);
}

function jsonLine(record: AuditRecord): string {
  return `${jsonText(record)}\n`;
}

function csvLine(record: AuditRecord): string {
  const fields = COLUMNS.map(([, ...path]) => fieldOf(member(record, ...path)));
  return `${[...fields, csvField(jsonText(record.details ?? {}))].join(",")}\r\n`;
}

function fieldOf(value: unknown): string {
  if (typeof value === "string") return csvField(oneLine(value));
  return typeof value === "number" ? csvField(value) : "";
}
