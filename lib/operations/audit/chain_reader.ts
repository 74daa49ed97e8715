import { Buffer } from "node:buffer";
import type { AuditAction, AuditResult } from "@/lib/std/audit_words.ts";
import { csvField } from "@/lib/std/text.ts";
import { unlessMissingAsync } from "@/lib/std/files.ts";
import { member, parsedJson } from "@/lib/std/untrusted.ts";
import { type AuditRecord, dayFile, daysInAsync, idOf, jsonText, oneLine, opened, readAt } from "./audit_trail.ts";

/** How many records a page looks at: a filter that matches few must not hold up other requests. */
const LOOKED_AT = 20_000;
const MS_PER_DAY = 86_400_000;

/** A day and an offset in its file, bytes: the page continues with the line before. */
const POSITION = /^(\d{4}-\d{2}-\d{2})\.(\d{1,15})$/;

/** Which records are wanted; what is left out does not matter. */
export interface AuditFilter {
  /** ms since 1970: from this on, and before that. */
  readonly startMs?: number;
  readonly endMs?: number;
  /** In lower case. */
  readonly actor?: string;
  readonly action?: AuditAction;
  readonly bucket?: string;
  /** Prefix of keys. */
  readonly prefix?: string;
  readonly result?: AuditResult;
  readonly requestId?: string;
  /** In lower case. */
  readonly tenant?: string;
}

/** A part of the trail, the newest record first. */
export interface AuditPage {
  readonly records: readonly AuditRecord[];
  /** Position of the next page; null: this is the last one. */
  readonly next: string | null;
  /** Down to which instant it was searched, ms since 1970; null with the rest. */
  readonly searchedToMs: number | null;
}

/** A position that no page has issued. */
export class BadPosition extends Error {}

/** Reads the files of a trail, also while it is written. */
export class ChainReader {
  /** @param lookedAt how many records a page looks at */
  constructor(private readonly folder: string, private readonly lookedAt = LOOKED_AT) {}

  /**
   * The records before a position; null: the newest. A page may have fewer than `count`, or none, and yet a `next`.
   *
   * @throws {BadPosition}
   */
  async page(filter: AuditFilter, position: string | null, count: number): Promise<AuditPage> {
    const from = position === null ? null : placeOf(position);
    const days = (await daysInAsync(this.folder)).reverse().filter((day, i, all) =>
      (from === null || day <= from.day) && (i === 0 || isIn(day, all.at(i + 1), filter))
    );
    const records: AuditRecord[] = [];
    let left = this.lookedAt;
    let lastMs = Infinity;
    for (const day of days) {
      const offset = day === from?.day ? from.offset : null;
      // It may have been removed meanwhile.
      const file = await unlessMissingAsync(() => Deno.open(dayFile(this.folder, day)));
      if (file === null) continue;
      try {
        const { size } = await file.stat();
        if (offset !== null && !(await isLineStart(file, offset, size))) throw new BadPosition();
        for await (const line of linesBackwards(file, offset ?? size)) {
          left--;
          const record = recordIn(line.text);
          if (record !== null) {
            const atMs = Date.parse(record.time);
            lastMs = Math.min(lastMs, atMs);
            if (matches(filter, record, atMs)) records.push(record);
          }
          if (records.length === count || left <= 0) {
            const next = { next: `${day}.${line.offset}`, searchedToMs: Number.isFinite(lastMs) ? lastMs : 0 };
            return { records, ...next };
          }
        }
      } finally {
        file.close();
      }
    }
    return { records, next: null, searchedToMs: null };
  }
}

/** A record in a line; null for headers and what is none. */
function recordIn(line: string): AuditRecord | null {
  const text = opened(line)?.text;
  return text !== undefined && idOf(text) ? parsedJson(text) as AuditRecord ?? null : null;
}

function matches(filter: AuditFilter, record: AuditRecord, atMs: number): boolean {
  const { startMs, endMs, actor, action, bucket, prefix, result, requestId, tenant } = filter;
  const { target } = record;
  return (startMs === undefined || atMs >= startMs) && (endMs === undefined || atMs < endMs) &&
    (actor === undefined || record.actor?.name.toLowerCase() === actor) &&
    (action === undefined || record.action === action) && (bucket === undefined || target.bucket === bucket) &&
    (prefix === undefined || (target.key ?? target.prefix)?.startsWith(prefix) === true) &&
    (result === undefined || record.result === result) &&
    (requestId === undefined || record.request_id === requestId) &&
    (tenant === undefined || record.tenant === tenant);
}

/**
 * Whether a day's file may have records of the wanted time: of its day, or of any day since the file before it. After a
 * clock was ahead, all records go into the file of that later day.
 */
function isIn(day: string, dayBefore: string | undefined, { startMs, endMs }: AuditFilter): boolean {
  return (startMs === undefined || Date.parse(day) + MS_PER_DAY > startMs) &&
    (endMs === undefined || dayBefore === undefined || Date.parse(dayBefore) < endMs);
}

function placeOf(position: string) {
  const [, day, offset] = POSITION.exec(position) ?? [];
  if (day === undefined) throw new BadPosition();
  return { day, offset: Number(offset) };
}

async function isLineStart(file: Deno.FsFile, offset: number, size: number): Promise<boolean> {
  return offset === 0 || (offset <= size && (await readAt(file, offset - 1, offset))[0] === 0x0a);
}

const BLOCK_BYTES = 256 * 1024;
/** A longer line is no record, bytes. */
const MAX_LINE_BYTES = 1024 * 1024;

/**
 * The complete lines of a file from the last to the first, without line ends, with their offsets in bytes.
 *
 * @param end only lines before this offset, which must be the start of a line
 */
async function* linesBackwards(file: Deno.FsFile, end: number) {
  /** Bytes from `start` on that were read and not returned yet. */
  let held = Buffer.alloc(0);
  let start = end;
  let isWhole = false;
  while (start > 0) {
    const length = Math.min(BLOCK_BYTES, start);
    const block = await readAt(file, start - length, start);
    // The file became shorter: what is missing was never complete.
    if (block.length < length) return;
    start -= length;
    held = held.length === 0 ? block : Buffer.concat([block, held]);
    for (;;) {
      // The line feed that ends the last line held, and the one before that line.
      if (!isWhole) {
        const last = held.lastIndexOf(0x0a);
        if (last < 0) break;
        held = held.subarray(0, last + 1);
        isWhole = true;
      }
      const before = held.length < 2 ? -1 : held.lastIndexOf(0x0a, held.length - 2);
      if (before < 0 && start > 0) break;
      if (held.length === 0) break;
      yield { text: held.toString("utf8", before + 1, held.length - 1), offset: start + before + 1 };
      held = held.subarray(0, before + 1);
    }
    if (held.length > MAX_LINE_BYTES) {
      held = held.subarray(0, BLOCK_BYTES);
      isWhole = false;
    }
  }
}

/** Records of a page that an export reads at a time. */
const PAGE_RECORDS = 1000;

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
  format: "ndjson" | "csv",
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
    yield page.records.map(format === "csv" ? csvLine : (record) => `${jsonText(record)}\n`).join("");
  } while (position !== null && left > 0);
}

function csvLine(record: AuditRecord): string {
  const fields = COLUMNS.map(([, ...path]) => fieldOf(member(record, ...path)));
  return `${[...fields, csvField(jsonText(record.details ?? {}))].join(",")}\r\n`;
}

function fieldOf(value: unknown): string {
  if (typeof value === "string") return csvField(oneLine(value));
  return typeof value === "number" ? csvField(value) : "";
}
