import type { AuditAction, AuditResult } from "@/lib/std/audit_words.ts";

/** Which records are wanted; what is left out does not matter. */
export interface AuditFilter {
  /** ms since 1970: from this on, and before that. */
  readonly startMs?: number;
  readonly endMs?: number;
  /** In lower case. */
  readonly actor?: string;
  readonly action?: AuditAction;
  readonly bucket?: string;
  /** What keys begin with. */
  readonly prefix?: string;
  readonly result?: AuditResult;
  readonly requestId?: string;
  /** In lower case. */
  readonly tenant?: string;
}

/** A record as it is read, of the application or of the store. */
export interface ReadRecord {
  readonly id: string;
  readonly time: string;
  readonly [member: string]: unknown;
}

/** A record with what a page continues after. */
interface FoundRecord {
  readonly record: ReadRecord;
  /** ms since 1970 */
  readonly atMs: number;
  readonly position: string;
}

/** A part of one source, the newest record first. */
export interface SourcePage {
  readonly records: readonly FoundRecord[];
  /** Where the next part begins; null: this one has the rest. */
  readonly next: string | null;
  /** Down to which instant it was searched, ms since 1970; `-Infinity` with the rest. */
  readonly searchedToMs: number;
}

/** Something that records are read from. */
export interface AuditSource {
  /**
   * The records before a position; null: the newest.
   *
   * @throws {BadPosition} for one that it has not issued
   */
  page(filter: AuditFilter, position: string | null, count: number): Promise<SourcePage>;
}

/** A position that no page has issued. */
export class BadPosition extends Error {}

/** A page of several sources. */
export interface MergedPage {
  readonly records: readonly ReadRecord[];
  /** The position of each source, by its name; null at the end of all. */
  readonly next: Readonly<Record<string, string>> | null;
  readonly searchedToMs: number;
}

/** At the end of a source: there is nothing before it. */
const AT_END = "";

/**
 * Reads a page of several sources, the newest record first. A page may have fewer records than `count`, or none, and yet a
 * `next`: each source looks at a bounded part of its records for a page.
 *
 * @param positions `next` of the page before; null: the newest
 * @throws {BadPosition}
 */
export async function mergedPage(
  sources: Readonly<Record<string, AuditSource>>,
  filter: AuditFilter,
  positions: Readonly<Record<string, string>> | null,
  count: number,
): Promise<MergedPage> {
  const pages = await Promise.all(
    Object.entries(sources).map(async ([name, source]) => {
      const position = positions?.[name] ?? null;
      const page = position === AT_END ? REST : await source.page(filter, position, count);
      return { name, position, page };
    }),
  );
  // What one source has not looked at yet may be newer than what another has found.
  const searchedToMs = Math.max(...pages.map(({ page }) => page.searchedToMs));
  const merged = pages
    .flatMap(({ name, page }) => {
      // Records of one source stay in its order, though its clock may have been set back.
      let atMs = Infinity;
      return page.records.map((found) => ({ name, ...found, atMs: atMs = Math.min(atMs, found.atMs) }));
    })
    .filter(({ atMs }) => atMs >= searchedToMs)
    .sort((a, b) => b.atMs - a.atMs)
    .slice(0, count);
  const next: Record<string, string> = {};
  for (const { name, position, page } of pages) {
    const taken = merged.filter((found) => found.name === name);
    const isWhole = taken.length === page.records.length;
    next[name] = isWhole ? page.next ?? AT_END : taken.at(-1)?.position ?? position ?? "";
    if (!isWhole && taken.length === 0 && position === null) delete next[name];
  }
  const isEnd = pages.every(({ name }) => next[name] === AT_END);
  return { records: merged.map(({ record }) => record), next: isEnd ? null : next, searchedToMs };
}

const REST: SourcePage = { records: [], next: null, searchedToMs: -Infinity };
