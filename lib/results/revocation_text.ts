/** Version 1 had no times of issue. */
const VERSION = 2;

/** The content of a file of revoked sessions. Times are seconds since 1970, the time of issue is null where unknown. */
export interface RevocationContent {
  readonly listed: readonly [digest: string, account: string, expiresAt: number, issuedAt: number | null][];
  /** By account, once its revoked sessions are no longer listed. */
  readonly upTo: readonly [account: string, expiresAt: number, issuedAt: number | null][];
}

/** The text of a file of revoked sessions. */
export function revocationText(content: RevocationContent): string {
  return JSON.stringify({ version: VERSION, ...content });
}

/** Parses such a text, of this version or the one before; null for any other text. */
export function parseRevocationText(text: string): RevocationContent | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof value !== "object" || value === null) return null;
  const { version, listed, upTo } = value as Record<string, unknown>;
  if (version !== VERSION && version !== 1) return null;
  const content = version === 1 ? { listed: withoutIssue(listed), upTo: withoutIssue(upTo) } : { listed, upTo };
  return isContent(content) ? content : null;
}

function withoutIssue(rows: unknown): unknown {
  return Array.isArray(rows) ? rows.map((row) => Array.isArray(row) ? [...row, null] : row) : rows;
}

function isContent(value: { listed: unknown; upTo: unknown }): value is RevocationContent {
  return areRows(value.listed, [isText, isText, isTime, isTimeOrNone]) &&
    areRows(value.upTo, [isText, isTime, isTimeOrNone]);
}

function areRows(value: unknown, columns: readonly ((cell: unknown) => boolean)[]): boolean {
  return Array.isArray(value) &&
    value.every((row) =>
      Array.isArray(row) && row.length === columns.length && columns.every((isRight, i) => isRight(row[i]))
    );
}

function isText(cell: unknown): boolean {
  return typeof cell === "string";
}

function isTime(cell: unknown): boolean {
  return typeof cell === "number";
}

function isTimeOrNone(cell: unknown): boolean {
  return cell === null || isTime(cell);
}
