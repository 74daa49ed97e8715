import type { Canvas, Manifest } from "@/lib/pages/iiif/manifest.ts";
import { readPageAddress } from "@/lib/pages/volume_address.ts";

/** What a run has published about the pages of its volume, by the names of pages. */
export interface RunPages {
  /** Pages whose text is published, as far as they could be listed. */
  readonly texts: ReadonlySet<string>;
  /** Whether the list is whole: else a page that it lacks may have a text. */
  readonly isListed: boolean;
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
  /** Canvases known to be without a text, by index: why the page could not be read; null where the run does not say. */
  readonly unread: ReadonlyMap<number, string | null>;
  /** The index of each canvas of the opened manifest among those of the whole volume. */
  readonly places: readonly number[];
  /** The names of pages, `[<number>]` of one that the run lacks. A canvas that the source does not have is without one. */
  readonly names: readonly string[];
}

/**
 * Joins the source manifest of a volume with the published one, which lacks the pages that could not be read, and with
 * texts that no manifest names. A page is found in both by its image, else by its number.
 *
 * @param published null: the source itself is opened
 */
export function wholeVolume(source: Manifest, published: Manifest | null, run: RunPages): WholeVolume {
  /** Null: several pages show the image. */
  const byImage = new Map<string, number | null>();
  source.canvases.forEach((canvas, index) => {
    for (const key of imageKeys(canvas)) byImage.set(key, byImage.has(key) ? null : index);
  });
  const found = new Map<number, string>();
  for (const [page, image] of run.images) {
    const index = byImage.get(imageKey(image)) ?? null;
    if (index !== null) found.set(index, page);
  }
  // A page that was found by its image is not at its number too: the source may have been changed since the run.
  const pages = new Set(found.values());
  const names = source.canvases.map((_, index) => {
    const number = String(index + 1).padStart(PAGE_DIGITS, "0");
    return found.get(index) ?? (pages.has(number) ? `[${index + 1}]` : number);
  });
  const indexes = new Map(names.map((name, index) => [name, index]));
  const canvases: Canvas[] = source.canvases.map((canvas, index) => {
    const label = published === null ? canvas.label : names[index];
    return { ...canvas, label, altoSources: run.texts.has(names[index]) ? [textOf(run, names[index])] : [] };
  });
  const taken = new Set<number>();
  const places = published?.canvases.map((canvas) => {
    const known = imageKeys(canvas).map((key) => byImage.get(key)).concat(indexes.get(pageOf(canvas)));
    // A page of the published manifest that the source no longer has comes after the others.
    const index = known.find((index) => typeof index === "number" && !taken.has(index)) ?? canvases.length;
    taken.add(index);
    const { altoSources = [] } = canvases[index] ?? {};
    canvases[index] = canvas.altoSources.length > 0 ? canvas : { ...canvas, altoSources };
    return index;
  }) ?? canvases.map((_, index) => index);
  const unread = canvases.flatMap(({ altoSources }, index): [number, string | null][] => {
    const error = run.errors.get(names[index]) ?? null;
    return altoSources.length > 0 || (error === null && !run.isListed) ? [] : [[index, error]];
  });
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
