import { clip, entries, isObject, member } from "@/lib/std/untrusted.ts";
import { integerOf, numberOf } from "./bucket_json.ts";
import type { LowestPage, VolumeQuality } from "./types.ts";

/** Lowest pages that a volume or a campaign names (spec, Limits). */
export const MAX_LOWEST_PAGES = 5;
/** No volume has more pages; a larger figure would only spoil the campaign's mean. */
const MAX_SCORED_PAGES = 10_000_000;
/** Characters of a text from the bucket. */
const MAX_BUCKET_TEXT = 300;

/**
 * Reads the quality block of a volume's file. Null when it could not have been written for a volume of `pages` pages: a
 * mean or a minimum outside 0..1, no scored page or more of them than pages, a wrong type (spec, progress).
 */
export function readQuality(value: unknown, pages: number): VolumeQuality | null {
  if (!isObject(value)) return null;
  const mean = scoreOf(member(value, "mean"));
  const min = scoreOf(member(value, "min"));
  const scored = integerOf(member(value, "scored"));
  if (mean === null || min === null || scored === null) return null;
  if (scored < 1 || scored > Math.min(pages, MAX_SCORED_PAGES)) return null;
  return {
    mean,
    min,
    scored,
    model: textOf(member(value, "model")),
    revision: textOf(member(value, "revision")),
    lowest: readLowest(member(value, "lowest")),
  };
}

/** The first valid entries; of a page that is named twice, the first. */
function readLowest(value: unknown): LowestPage[] {
  const lowest = new Map<string, LowestPage>();
  for (const entry of entries(value)) {
    const quality = scoreOf(member(entry, "quality"));
    const page = textOf(member(entry, "page"));
    if (quality === null || page === null || lowest.has(page)) {
      continue;
    }
    const canvas = integerOf(member(entry, "canvas"));
    lowest.set(page, { page, quality, canvas: canvas !== null && canvas >= 0 ? canvas : null });
    if (lowest.size === MAX_LOWEST_PAGES) break;
  }
  return [...lowest.values()];
}

function scoreOf(value: unknown): number | null {
  const score = numberOf(value);
  return score !== null && score >= 0 && score <= 1 ? score : null;
}

/** A text of the bucket, cut to its limit; null for anything else. */
export function textOf(value: unknown): string | null {
  return typeof value === "string" ? clip(value, MAX_BUCKET_TEXT) : null;
}
