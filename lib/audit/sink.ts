import type { AuditRecord } from "./audit_record.ts";

/** A record with its number and its seal. */
export interface SealedRecord {
  readonly record: AuditRecord;
  readonly number: number;
  /** ms since 1970 */
  readonly atMs: number;
  /** The record as JSON, with the member `hash`. */
  readonly line: string;
  readonly hash: string;
}

/** Of the lines of records: what they take in memory and on a disk grows with it. */
export function charactersOf(records: readonly SealedRecord[]): number {
  return records.reduce((sum, { line }) => sum + line.length, 0);
}

/** Where records are stored before a change is confirmed. It never blocks the process, however slow the disk is. */
export interface DurableSink {
  /** In metrics and messages. */
  readonly name: string;
  /**
   * Resolves once the records are on the disk.
   *
   * @throws what kept them from it; they may be passed again
   */
  append(records: readonly SealedRecord[]): Promise<void>;
  /** Called once, after the last {@link append} has ended. It may take as long as the disk does. Never throws. */
  close(): Promise<void>;
}
