import type { Canvas, Manifest } from "@/lib/pages/iiif/manifest.ts";
import { readPageAddress } from "@/lib/pages/volume_address.ts";

/** What a run has published about the pages of its volume, by the names of pages. */
export interface RunPages {
  /** Pages whose text is published. */
  readonly texts: ReadonlySet<string>;
  /** The address of a page's text. */
  readonly textUrl: (page: string) => string;
  /** Addresses of the images that the run read. */
  readonly images: ReadonlyMap<string, string>;
  /** Why pages could not be read. */
  readonly errors: ReadonlyMap<string, string>;
}

/** A volume with all of its pages. */
export interface WholeVolume {
  readonly manifest: Manifest;
  /** Canvases without a text, by index: why the page could not be read; null where the run does not say. */
  readonly unread: ReadonlyMap<number, string | null>;
  /** The index of each canvas of the published manifest among those of the whole volume. */
  readonly places: readonly number[];
  /** The names of pages; a canvas that the source does not have is without one. */
  readonly names: readonly string[];
}

/**
 * Joins the source manifest of a volume with the published one, which lacks the pages that could not be read, and with
 * texts that no manifest names. A page is found in both by its image, else by its number.
 *
 * @param published null: none is published
 */
export function wholeVolume(source: Manifest, published: Manifest | null, run: RunPages): WholeVolume {
  /** Null: several pages show the image. */
  const byImage = new Map<string, number | null>();
  source.canvases.forEach((canvas, index) => {
    for (const key of imageKeys(canvas)) byImage.set(key, byImage.has(key) ? null : index);
  });
  const names = source.canvases.map((_, index) => String(index + 1).padStart(PAGE_DIGITS, "0"));
  for (const [page, image] of run.images) {
    const index = byImage.get(imageKey(image)) ?? null;
    if (index !== null) names[index] = page;
  }
  const indexes = new Map(names.map((name, index) => [name, index]));
  const canvases: Canvas[] = source.canvases.map((canvas, index) => {
    const label = published === null ? canvas.label : names[index];
    return { ...canvas, label, altoSources: run.texts.has(names[index]) ? [textOf(run, names[index])] : [] };
  });
  const taken = new Set<number>();
  const places = published?.canvases.map((canvas) => {
    const found = imageKeys(canvas).map((key) => byImage.get(key)).concat(indexes.get(pageOf(canvas)));
    // A page of the published manifest that the source no longer has comes after the others.
    const index = found.find((index) => typeof index === "number" && !taken.has(index)) ?? canvases.length;
    taken.add(index);
    const { altoSources = [] } = canvases[index] ?? {};
    canvases[index] = canvas.altoSources.length > 0 ? canvas : { ...canvas, altoSources };
    return index;
  }) ?? [];
  const unread = canvases.flatMap(({ altoSources }, index): [number, string | null][] =>
    altoSources.length > 0 ? [] : [[index, run.errors.get(names[index]) ?? null]]
  );
  const { ranges, alternativeOrders, start, behaviors, viewingDirection } = source;
  const order = { ranges, alternativeOrders, start, behaviors, viewingDirection };
  return { manifest: { ...published ?? source, ...order, canvases }, unread: new Map(unread), places, names };
}

/** Digits of the number that a worker names a page by. */
const PAGE_DIGITS = 4;

/** The name of a page, by the file of its text. */
function pageOf({ altoSources: [text], label }: Canvas): string {
  return text ? readPageAddress(text.href).page : label;
}

function textOf(run: RunPages, page: string) {
  return { href: run.textUrl(page), label: "ALTO", format: "application/xml", profile: null };
}

/** The addresses by which the image of a canvas is known. */
function imageKeys({ images }: Canvas): string[] {
  const source = images[0]?.choices[0].source;
  const keys = [source?.service?.id, source?.href].flatMap((address) => address ? [imageKey(address)] : []);
  return [...new Set(keys)];
}

/** The address of an image without its scheme, and without the parameters of the IIIF Image API. */
function imageKey(address: string): string {
  return address.replace(/^https?:/i, "").replace(/\/(?:full|square|(?:pct:)?[\d.,]+)\/[^/]+\/!?[\d.]+\/\w+\.\w+$/, "");
}
