import { isObject } from "@/lib/std/untrusted.ts";
import { behaviorsOf, canvasOf } from "./canvas.ts";
import { imageSourcesOf } from "./image_source.ts";
import { idOf, type Json, listOf, objectsOf, type Reading, typeOf } from "./json.ts";
import { canvasIdOf, linksOf, providersOf } from "./links.ts";
import { type Canvas, type Manifest, MAX_CANVASES, type OtherMedia, type ViewingDirection } from "./manifest.ts";
import { type CanvasIndex, structuresOf } from "./ranges.ts";
import { standInOf } from "./stand_in.ts";
import { requiredStatementOf, rightsOf } from "./rights.ts";
import { labelOf, metadataOf, textOf } from "./text.ts";
import { upgradedCanvas, upgradeInSteps } from "./upgrade.ts";

/** Why something is not shown as a manifest. */
export type ManifestProblem =
  | "not a manifest"
  | "a collection"
  | "no canvases"
  | "too large"
  | "unreadable canvases"
  | "only audio or video"
  | "only 3D";

export type ReadManifest =
  | { readonly ok: true; readonly manifest: Manifest }
  | { readonly ok: false; readonly reason: ManifestProblem };

/**
 * Reads a manifest of IIIF Presentation 3, or of 2 after its upgrade. No JSON makes it throw, and its time grows with the
 * size of the JSON. A part that cannot be read is left out; a canvas that cannot be read is an empty one, so that the
 * others stay in place.
 *
 * @param json parsed JSON from anywhere
 * @param url absolute address that the JSON was read from
 * @param languages the reader's languages as BCP 47 tags, the best first
 */
export function readManifest(json: unknown, url: string, languages: readonly string[] = []): ReadManifest {
  const steps = readManifestInSteps(json, url, languages);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** Reads a manifest in steps of a canvas or a range each, so that a page can react in between. */
export function* readManifestInSteps(
  json: unknown,
  url: string,
  languages: readonly string[],
): Generator<undefined, ReadManifest, void> {
  if (!isObject(json)) return { ok: false, reason: "not a manifest" };
  const type = typeOf(json);
  if (type === "Collection" || type === "" && isCollection(json)) return { ok: false, reason: "a collection" };
  if (!(type === "Manifest" || type === "" && hasCanvases(json))) return { ok: false, reason: "not a manifest" };

  const isPresentation2 = objectsOf(json.sequences, 1).length > 0;
  const manifest = isPresentation2 ? yield* upgradeInSteps(json) : json;
  const entries = listOf(manifest.items, Infinity);
  if (entries.length === 0) return { ok: false, reason: "no canvases" };
  if (entries.length > MAX_CANVASES) return { ok: false, reason: "too large" };

  const reading: Reading = { base: url, languages: languages.slice(0, 20) };
  const canvases: Canvas[] = [];
  for (const entry of entries) {
    canvases.push(canvasOf(isPresentation2 ? upgradedCanvas(entry) : entry, String(canvases.length + 1), reading));
    yield;
  }
  const problem = canvases.some(({ isReadable }) => isReadable) ? problemOfMedia(canvases) : problemOfEntries(entries);
  if (problem !== null) return { ok: false, reason: problem };
  const index = indexOf(canvases);
  const { ranges, orders } = structuresOf(manifest.structures, index, reading);
  return {
    ok: true,
    manifest: {
      id: idOf(manifest),
      label: labelOf(manifest.label, reading) ?? url,
      summary: textOf(manifest.summary, reading),
      metadata: metadataOf(manifest.metadata, reading),
      rights: rightsOf(manifest, reading),
      requiredStatement: requiredStatementOf(manifest, reading),
      providers: providersOf(manifest, reading),
      homepages: linksOf(manifest.homepage, reading),
      renderings: linksOf(manifest.rendering, reading),
      seeAlso: linksOf(manifest.seeAlso, reading),
      thumbnails: imageSourcesOf(manifest.thumbnail, reading),
      navDate: typeof manifest.navDate === "string" ? manifest.navDate.slice(0, 100) : null,
      viewingDirection: directionOf(manifest),
      behaviors: behaviorsOf(manifest),
      start: index.get(canvasIdOf(manifest.start)) ?? null,
      ranges,
      alternativeOrders: orders,
      canvases,
    },
  };
}

const hasCanvases = (node: Json) => Array.isArray(node.items) || Array.isArray(node.sequences);
const isCollection = (node: Json) => [node.manifests, node.collections, node.members].some(Array.isArray);

/** Presentation 4 has scenes and timelines where there were canvases alone. */
function problemOfEntries(entries: readonly unknown[]): ManifestProblem {
  const types = new Set(entries.map((entry) => isObject(entry) ? typeOf(entry) : ""));
  if (types.size !== 1) return "unreadable canvases";
  return types.has("Scene") ? "only 3D" : types.has("Timeline") ? "only audio or video" : "unreadable canvases";
}

/** A manifest of other media has no image on any canvas, and none that stands for one. */
function problemOfMedia(canvases: readonly Canvas[]): ManifestProblem | null {
  if (canvases.some((canvas) => canvas.images.length > 0 || standInOf(canvas) !== null)) return null;
  const media = new Set<OtherMedia>(canvases.flatMap(({ otherMedia }) => otherMedia));
  if (media.has("audio") || media.has("video")) return "only audio or video";
  return media.has("3D") ? "only 3D" : null;
}

function indexOf(canvases: readonly Canvas[]): CanvasIndex {
  const index = new Map<string, number>();
  canvases.forEach(({ id }, at) => {
    const bare = id.split("#", 1)[0];
    if (bare !== "" && !index.has(bare)) index.set(bare, at);
  });
  return index;
}

function directionOf({ viewingDirection }: Json): ViewingDirection {
  return DIRECTIONS.find((direction) => direction === viewingDirection) ?? "left-to-right";
}

const DIRECTIONS: readonly ViewingDirection[] = ["left-to-right", "right-to-left", "top-to-bottom", "bottom-to-top"];
