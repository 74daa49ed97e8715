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

/** A record as it is read. */
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

/** A part of the trail, the newest record first. */
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

export const NO_RECORDS: SourcePage = { records: [], next: null, searchedToMs: -Infinity };
