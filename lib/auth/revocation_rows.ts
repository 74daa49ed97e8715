import { z } from "zod";
import { parsedJson } from "@/lib/std/untrusted.ts";

const VERSION = 2;
const DIGEST = z.string();
const ACCOUNT = z.string();
/** Seconds since 1970. */
const SECONDS = z.number();

/** A revoked session: its digest and account, its end and its time of issue, which is null where unknown. */
const LISTED = z.tuple([DIGEST, ACCOUNT, SECONDS, SECONDS.nullable()]);
/** An account once its revoked sessions are no longer listed. */
const UP_TO = z.tuple([ACCOUNT, SECONDS, SECONDS.nullable()]);

const CONTENT = z.object({ version: z.literal(VERSION), listed: z.array(LISTED), upTo: z.array(UP_TO) });

/** The version before, which had no times of issue. */
const CONTENT_1 = z.object({
  version: z.literal(1),
  listed: z.array(z.tuple([DIGEST, ACCOUNT, SECONDS]).transform((row) => [...row, null] as const)),
  upTo: z.array(z.tuple([ACCOUNT, SECONDS]).transform((row) => [...row, null] as const)),
});

const ANY_CONTENT = z.union([CONTENT, CONTENT_1]);

/** The content of a file of revoked sessions. */
export type RevocationContent = Omit<z.output<typeof ANY_CONTENT>, "version">;

/** A row of that content: of a session, or of an account. */
export type RevocationRow = RevocationContent["listed"][number] | RevocationContent["upTo"][number];

/** The text of a file of revoked sessions. */
export function revocationText(content: RevocationContent): string {
  // Last, since content that was parsed has the version of its text.
  return JSON.stringify({ ...content, version: VERSION });
}

/** Parses such a text, of this version or the one before; null for any other text. */
export function parseRevocationText(text: string): RevocationContent | null {
  return ANY_CONTENT.safeParse(parsedJson(text)).data ?? null;
}

/** The text of one row, equal for equal rows. */
export function revocationRowText(row: RevocationRow): string {
  return JSON.stringify(row);
}

/** The rows among such texts, by text and those of accounts first; other texts are left out. */
export function parseRevocationRows(texts: readonly string[]): Map<string, RevocationRow> {
  const rows = texts.flatMap((text): [string, RevocationRow][] => {
    const value = parsedJson(text);
    const row = UP_TO.safeParse(value).data ?? LISTED.safeParse(value).data;
    return row ? [[text, row]] : [];
  });
  return new Map(rows.sort(([, a], [, b]) => a.length - b.length));
}

/** The account of a row, or of its session. */
export function accountOf(row: RevocationRow): string {
  return row.length === 3 ? row[0] : row[1];
}

/** When a row ends, seconds since 1970. */
export function endOf(row: RevocationRow): number {
  return row.length === 3 ? row[1] : row[2];
}
