import { formatQuality } from "@/lib/pages/locale/figures.ts";
import { inLanguage } from "@/lib/pages/locale/language.ts";
import { encodeRfc3986 } from "@/lib/std/text.ts";
import { clip, entries, isObject, member } from "@/lib/std/untrusted.ts";
import * as en from "@/locales/en/log.ts";
import * as sv from "@/locales/sv/log.ts";
import { type FetchProblem, fetchProblemSentence, FILE_NAMES } from "@/lib/pages/fetch_problems.ts";
import { formatDuration } from "@/lib/pages/moments.ts";

/** Pages of one volume that are read; longer volumes do not occur. */
const MAX_PAGES = 50_000;
/** Characters of a text from the file. */
const MAX_TEXT = 300;

/** Digits compare as numbers: page 10 comes after page 9. */
const PAGE_NAMES = new Intl.Collator("en", { numeric: true });

/** How a run ended for a page. `skipped`: an earlier run had read it. */
type PageStatus = "ok" | "failed" | "skipped";

export interface RunPage {
  readonly name: string;
  readonly status: PageStatus;
  /** Null where the file says nothing usable. */
  readonly seconds: number | null;
  readonly error: string | null;
  /** Predicted quality, 0..1. */
  readonly quality: number | null;
  /** Its image at the source; an http(s) URL. */
  readonly sourceUrl: string | null;
  /** Index of its canvas in the published viewer manifest; null where it has none. */
  readonly canvas: number | null;
}

/** A volume's manifest.json: what a run has made of each page. */
export interface RunManifest {
  /** Pages of the volume; at least as many as are listed. */
  readonly pageCount: number;
  /** Sorted by name, as in the volume. */
  readonly pages: readonly RunPage[];
  /** Whole run, seconds. */
  readonly wallSeconds: number | null;
  /** The volume's IIIF manifest; an http(s) URL. */
  readonly viewerUrl: string | null;
  /** The manifest that the run read; an http(s) URL. */
  readonly sourceManifestUrl: string | null;
}

/**
 * Reads a parsed manifest.json. Null for anything that has no results by page. A malformed value of a page loses that
 * value alone.
 */
export function readRunManifest(value: unknown): RunManifest | null {
  const results = member(value, "results");
  if (!isObject(results)) return null;
  const sources = member(value, "page_sources");
  const canvases = knownCanvases(member(value, "quality"));
  const pages: RunPage[] = [];
  let published = 0;
  // The file lists pages as the run ended them: those of an earlier run, or tried again, out of their order.
  const listed = Object.entries(results).slice(0, MAX_PAGES).sort(([a], [b]) => PAGE_NAMES.compare(a, b));
  for (const [name, result] of listed) {
    const status = statusOf(member(result, "status"));
    if (status === null || name.length > MAX_TEXT || !name.isWellFormed()) continue;
    // The viewer manifest lists the pages that have text, in their order.
    const canvas = status === "failed" ? null : canvases.get(name) ?? published;
    if (canvas !== null) published = canvas + 1;
    pages.push({
      name,
      status,
      seconds: positive(member(result, "seconds")),
      error: textOf(member(result, "error")),
      quality: scoreOf(member(result, "quality")),
      sourceUrl: webAddress(member(sources, name)),
      canvas,
    });
  }
  return {
    pageCount: Math.max(positive(member(value, "pages")) ?? 0, pages.length),
    pages,
    wallSeconds: positive(member(value, "wall_seconds")),
    viewerUrl: webAddress(member(value, "viewer_url")),
    sourceManifestUrl: webAddress(member(value, "source_manifest")),
  };
}

/** Whether the results cover every page, so that the run is over. */
export function isComplete({ pages, pageCount }: RunManifest): boolean {
  return pageCount > 0 && pages.length >= pageCount;
}

/** The address of a page's text, beside the viewer manifest; null where that is unknown. */
export function pageAltoUrl(viewerUrl: string, page: string): string;
export function pageAltoUrl(viewerUrl: string | null, page: string): string | null;
export function pageAltoUrl(viewerUrl: string | null, page: string): string | null {
  return viewerUrl === null ? null : new URL(`alto/${encodeRfc3986(page)}.xml`, viewerUrl).href;
}

/** The canvases that the file names: those of the pages of lowest quality. */
function knownCanvases(quality: unknown): ReadonlyMap<string, number> {
  const known = new Map<string, number>();
  for (const entry of entries(member(quality, "lowest"))) {
    const page = member(entry, "page");
    const canvas = member(entry, "canvas");
    if (typeof page === "string" && Number.isSafeInteger(canvas) && Number(canvas) >= 0) {
      known.set(page, Number(canvas));
    }
  }
  return known;
}

function statusOf(value: unknown): PageStatus | null {
  return value === "ok" || value === "failed" || value === "skipped" ? value : null;
}

function positive(value: unknown): number | null {
  return typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : null;
}

function scoreOf(value: unknown): number | null {
  const score = positive(value);
  return score !== null && score <= 1 ? score : null;
}

function textOf(value: unknown): string | null {
  return typeof value === "string" ? clip(value, MAX_TEXT) : null;
}

function webAddress(value: unknown): string | null {
  const url = typeof value === "string" && value.length <= 2048 ? URL.parse(value) : null;
  return url && (url.protocol === "http:" || url.protocol === "https:") ? url.href : null;
}

/** Pages that are listed as the slowest. */
const SLOWEST = 5;

/** Totals of a run. Durations are those of the pages that it processed, in seconds. */
export interface RunSummary {
  readonly ok: number;
  readonly failed: number;
  readonly skipped: number;
  readonly totalSeconds: number;
  readonly median: number | null;
  readonly p95: number | null;
  readonly max: number | null;
  readonly meanQuality: number | null;
  readonly minQuality: number | null;
  readonly slowest: readonly RunPage[];
}

/** Sums up a run; skipped pages took no time and do not count among the durations. */
export function summarizeRun({ pages, wallSeconds }: RunManifest): RunSummary {
  const timed = pages.filter(({ status, seconds }) => status !== "skipped" && seconds !== null)
    .sort((a, b) => Number(b.seconds) - Number(a.seconds));
  const durations = timed.map(({ seconds }) => Number(seconds)).reverse();
  const scores = pages.flatMap(({ quality }) => quality ?? []);
  const count = (status: RunPage["status"]) => pages.filter((page) => page.status === status).length;
  return {
    ok: count("ok"),
    failed: count("failed"),
    skipped: count("skipped"),
    totalSeconds: wallSeconds ?? durations.reduce((sum, seconds) => sum + seconds, 0),
    median: quantile(durations, 0.5),
    p95: quantile(durations, 0.95),
    max: durations.at(-1) ?? null,
    meanQuality: scores.length > 0 ? scores.reduce((sum, score) => sum + score, 0) / scores.length : null,
    minQuality: scores.length > 0 ? scores.reduce((least, score) => Math.min(least, score), 1) : null,
    slowest: timed.slice(0, SLOWEST),
  };
}

/** A quantile of ascending values, linear between two of them; null without values. */
function quantile(ascending: readonly number[], part: number): number | null {
  if (ascending.length === 0) return null;
  const position = (ascending.length - 1) * part;
  const below = Math.floor(position);
  const next = ascending[Math.min(below + 1, ascending.length - 1)];
  return ascending[below] + (next - ascending[below]) * (position - below);
}

/** How a page's quality is shown. `lost`: the page has no text; `unscored`: its quality was not predicted. */
type QualityStep = "high" | "medium" | "low" | "unscored" | "lost";

export const QUALITY_STEPS: readonly QualityStep[] = ["high", "medium", "low", "unscored", "lost"];

export function qualityStep({ status, quality }: RunPage): QualityStep {
  if (status === "failed") return "lost";
  if (quality === null) return "unscored";
  return quality >= 0.9 ? "high" : quality >= 0.7 ? "medium" : "low";
}

export type PageOrder = "page" | "seconds" | "quality";

/** Orders pages: as in the volume, the slowest first, or the lowest quality first with lost pages before all. */
export function orderPages(pages: readonly RunPage[], order: PageOrder): readonly RunPage[] {
  if (order === "page") return pages;
  const key = order === "seconds"
    ? ({ seconds }: RunPage) => -(seconds ?? -1)
    : ({ status, quality }: RunPage) => status === "failed" ? -1 : quality ?? 2;
  return [...pages].sort((a, b) => key(a) - key(b));
}

export const RUN_WORDS = inLanguage({ en: en.RUN_WORDS, sv: sv.RUN_WORDS });
export const QUALITY_STEP_WORDS = inLanguage({ en: en.QUALITY_STEP_WORDS, sv: sv.QUALITY_STEP_WORDS });
export const PAGE_ORDER_WORDS = inLanguage({ en: en.PAGE_ORDER_WORDS, sv: sv.PAGE_ORDER_WORDS });

/** Why a run's manifest cannot be shown. */
export function manifestProblem(problem: FetchProblem): string {
  return fetchProblemSentence(problem, {
    name: FILE_NAMES.runSummary,
    isOurs: true,
    own: { "too large": RUN_WORDS.unreadable },
  });
}

/** A page in one line: `Page 0007: 12.3 s, quality 0.61`. */
export function pageWords({ name, status, seconds, quality, error }: RunPage): string {
  const facts = [
    ...(status === "failed" ? [RUN_WORDS.lost] : status === "skipped" ? [RUN_WORDS.readEarlier] : []),
    ...(seconds !== null && status !== "skipped" ? [formatDuration(seconds)] : []),
    ...(quality !== null ? [RUN_WORDS.quality(formatQuality(quality))] : []),
    ...(error !== null ? [error] : []),
  ];
  return RUN_WORDS.page(name, facts.join(", "));
}
