import { fetchText } from "@/lib/pages/browser/fetch_text_client.ts";
import { MAX_CANVASES, MAX_MANIFEST_BYTES } from "@/lib/pages/iiif/manifest.ts";
import { pageAltoUrl, readRunManifest } from "@/lib/pages/log/run_manifest.ts";
import type { VolumeAddress } from "@/lib/pages/volume_address.ts";
import { clip, entries, member, parsedJson } from "@/lib/std/untrusted.ts";
import type { RunPages } from "./whole_volume.ts";

export interface ReadOptions {
  readonly fetch: typeof fetch;
  readonly signal: AbortSignal;
}

/** The pages of a run, and the manifest that it read; null where the run does not say. */
export interface ReadRun {
  readonly pages: RunPages;
  readonly sourceUrl: string | null;
}

/** Reads what a run has published about its pages. A file that cannot be read counts as an empty one. It never throws. */
export async function readRun(volume: VolumeAddress, options: ReadOptions): Promise<ReadRun> {
  const [listed, manifest] = await Promise.all([
    readTexts(volume, options),
    readJson(volume.runManifestUrl, options).then(readRunManifest),
  ]);
  const pages = manifest?.pages ?? [];
  const errors = pages.flatMap(({ name, status, error }): [string, string][] =>
    status === "failed" && error !== null ? [[name, error]] : []
  );
  return {
    pages: {
      ...listed,
      textUrl: (page) => pageAltoUrl(volume.iiifUrl, page),
      images: new Map(pages.flatMap(({ name, sourceUrl }) => sourceUrl === null ? [] : [[name, sourceUrl]])),
      errors: new Map(manifest === null ? await lastError(volume, options) : errors),
    },
    sourceUrl: manifest?.sourceManifestUrl ?? null,
  };
}

/** Lists of a thousand pages each. */
const MAX_LISTS = MAX_CANVASES / 1000;

/** The names of the pages whose text is published. */
async function readTexts(
  { pagesUrl }: VolumeAddress,
  options: ReadOptions,
): Promise<Pick<RunPages, "texts" | "isListed">> {
  const texts = new Set<string>();
  for (let query = "", lists = 0; lists < MAX_LISTS; lists++) {
    const list = await readJson(`${pagesUrl}${query}`, options);
    for (const name of entries(member(list, "pages"))) if (typeof name === "string") texts.add(name);
    const next = member(list, "next");
    if (typeof next !== "string") return { texts, isListed: next === null };
    query = `?after=${encodeURIComponent(next)}`;
  }
  return { texts, isListed: false };
}

/** The last page that a run could not read, which has no manifest before its end. */
async function lastError({ progressUrl }: VolumeAddress, options: ReadOptions): Promise<[string, string][]> {
  const last = member(await readJson(progressUrl, options), "last_error");
  const page = member(last, "page");
  const error = member(last, "error");
  return typeof page === "string" && typeof error === "string" ? [[page, clip(error, MAX_ERROR)]] : [];
}

/** Characters of an error. */
const MAX_ERROR = 300;

async function readJson(url: string, options: ReadOptions): Promise<unknown> {
  const fetched = await fetchText(url, { ...options, maxBytes: MAX_MANIFEST_BYTES });
  return fetched.ok ? parsedJson(fetched.text) : null;
}
