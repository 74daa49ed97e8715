import { isObject } from "@/lib/std/is_object.ts";
import { behaviorsOf, canvasOf } from "./canvas.ts";
import { imageSourcesOf } from "./image_source.ts";
import { idOf, type Json, listOf, objectsOf, type Reading, typeOf } from "./json.ts";
import { canvasIdOf, linksOf, providersOf } from "./links.ts";
import type { Behavior, Canvas, CanvasOrder, Manifest, OtherMedia, ViewingDirection } from "./manifest.ts";
import { type CanvasIndex, structuresOf } from "./ranges.ts";
import { standInOf } from "./stand_in.ts";
import { requiredStatementOf, rightsOf } from "./rights.ts";
import { labelOf, metadataOf, textOf } from "./text.ts";

/** Most canvases that a manifest may have. */
export const MAX_CANVASES = 20_000;
const MAX_SEQUENCES = 50;

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
 * Reads a manifest of IIIF Presentation 2 or 3. No JSON makes it throw, and its time grows with the size of the JSON. A
 * part that cannot be read is left out; a canvas that cannot be read is an empty one, so that the others stay in place.
 *
 * @param json parsed JSON from anywhere
 * @param url absolute address that the JSON was read from
 * @param languages the reader's languages as BCP 47 tags, the best first
 */
export function readManifest(json: unknown, url: string, languages: readonly string[] = []): ReadManifest {
  if (!isObject(json)) return { ok: false, reason: "not a manifest" };
  const type = typeOf(json);
  if (type === "Collection" || type === "" && isCollection(json)) return { ok: false, reason: "a collection" };
  if (!(type === "Manifest" || type === "" && hasCanvases(json))) return { ok: false, reason: "not a manifest" };

  const reading: Reading = { base: url, languages: languages.slice(0, 20) };
  const sequences = objectsOf(json.sequences, MAX_SEQUENCES);
  const lists = sequences.length > 0
    ? sequences.map(({ canvases }) => listOf(canvases, Infinity))
    : [listOf(json.items, Infinity)];
  const entries = entriesOf(lists);
  if (entries.length === 0) return { ok: false, reason: "no canvases" };
  if (entries.length > MAX_CANVASES) return { ok: false, reason: "too large" };

  const canvases = entries.map((entry, at) => canvasOf(entry, String(at + 1), reading));
  const problem = canvases.some(({ isReadable }) => isReadable) ? problemOfMedia(canvases) : problemOfEntries(entries);
  if (problem !== null) return { ok: false, reason: problem };
  const index = indexOf(canvases);
  const parts = [json, ...sequences.slice(0, 1)];
  const { ranges, orders } = structuresOf(json.structures, index, reading);
  return {
    ok: true,
    manifest: {
      id: idOf(json),
      label: labelOf(json.label, reading) ?? url,
      summary: textOf(json.summary ?? json.description, reading),
      metadata: metadataOf(json.metadata, reading),
      rights: rightsOf(json, reading),
      requiredStatement: requiredStatementOf(json, reading),
      providers: providersOf(json, reading),
      homepages: linksOf(json.homepage ?? json.related, reading),
      renderings: parts.flatMap(({ rendering }) => linksOf(rendering, reading)),
      seeAlso: linksOf(json.seeAlso, reading),
      thumbnails: imageSourcesOf(json.thumbnail, reading),
      navDate: typeof json.navDate === "string" ? json.navDate.slice(0, 100) : null,
      viewingDirection: parts.map(directionOf).find((direction) => direction !== null) ?? "left-to-right",
      behaviors: [...new Set<Behavior>(parts.flatMap(behaviorsOf))],
      start: startOf(parts, index),
      ranges,
      alternativeOrders: [...sequenceOrders(sequences, lists, index, reading), ...orders],
      canvases,
    },
  };
}

const hasCanvases = (node: Json) => Array.isArray(node.items) || Array.isArray(node.sequences);
const isCollection = (node: Json) => [node.manifests, node.collections, node.members].some(Array.isArray);

/** The entries of all sequences; a later sequence refers to canvases of an earlier one by their identifiers. */
function entriesOf(lists: readonly (readonly unknown[])[]): readonly unknown[] {
  if (lists.length === 1) return lists[0];
  const entries = [...lists[0]];
  const known = new Set(entries.map(idOf));
  for (const list of lists.slice(1)) {
    for (const entry of list) {
      const id = idOf(entry);
      if (known.has(id) || !isObject(entry)) continue;
      known.add(id);
      entries.push(entry);
    }
  }
  return entries;
}

function sequenceOrders(
  sequences: readonly Json[],
  lists: readonly (readonly unknown[])[],
  index: CanvasIndex,
  reading: Reading,
): readonly CanvasOrder[] {
  return sequences.slice(1).map((sequence, at) => ({
    label: labelOf(sequence.label, reading) ?? "",
    canvases: lists[at + 1].slice(0, MAX_CANVASES).flatMap((entry) => index.get(canvasIdOf(entry)) ?? []),
  })).filter(({ canvases }) => canvases.length > 0);
}

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

function directionOf({ viewingDirection }: Json): ViewingDirection | null {
  return DIRECTIONS.find((direction) => direction === viewingDirection) ?? null;
}

const DIRECTIONS: readonly ViewingDirection[] = ["left-to-right", "right-to-left", "top-to-bottom", "bottom-to-top"];

function startOf(parts: readonly Json[], index: CanvasIndex): number | null {
  for (const { start, startCanvas } of parts) {
    const found = index.get(canvasIdOf(start ?? startCanvas));
    if (found !== undefined) return found;
  }
  return null;
}
