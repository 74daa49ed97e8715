import type { VolumeView } from "@/lib/campaigns/projection/types.ts";
import { inLanguage } from "@/lib/presentation/locale/language.ts";
import * as en from "@/locales/en/problems.ts";
import * as sv from "@/locales/sv/problems.ts";
import { csvField } from "@/lib/std/text.ts";
import { volumeChip, volumeSentence } from "./volume_words.ts";

const CSV_COLUMNS = inLanguage({ en: en.CSV_COLUMNS, sv: sv.CSV_COLUMNS });

const COLUMNS:
  readonly (readonly [name: keyof typeof CSV_COLUMNS, of: (volume: VolumeView) => string | number | null])[] = [
    ["volume", ({ id }) => id],
    ["index", ({ index }) => index],
    ["state", (volume) => volumeChip(volume).text],
    ["pagesDone", ({ progress }) => progress?.done ?? null],
    ["pages", ({ progress }) => progress?.total ?? null],
    ["pagesLost", ({ progress }) => progress?.failed ?? null],
    ["quality", ({ progress }) => progress?.quality?.mean ?? null],
    // A file is read later than it is saved: the moment stands in a column of its own.
    ["known", (volume) => volumeSentence(volume, null).text],
    ["reported", ({ reason, containerWaiting }) => reason?.error ?? containerWaiting?.reason ?? null],
    ["updatedAt", ({ progress }) => progress?.updatedAt ?? null],
    ["sourceManifest", ({ sourceUrl }) => sourceUrl],
    ["manifest", ({ iiifUrl }) => iiifUrl],
    ["runLog", ({ logUrl }) => logUrl],
  ];

/**
 * Volumes as CSV (RFC 4180) with a byte order mark, by which spreadsheets know that it is UTF-8.
 */
export function volumesCsv(volumes: readonly VolumeView[]): string {
  const rows = volumes.map((volume) => COLUMNS.map(([, of]) => csvField(of(volume))));
  return "\ufeff" +
    [COLUMNS.map(([name]) => csvField(CSV_COLUMNS[name])), ...rows].map((row) => `${row.join(",")}\r\n`).join("");
}

/** A file name for the volumes of a campaign. */
export function csvName(campaign: string, what: string): string {
  return `${campaign}-${what}.csv`.replace(/[^\p{L}\p{N}._-]+/gu, "-");
}
