import { isObject } from "@/lib/std/untrusted.ts";
import { canvasOf } from "./canvas.ts";
import {
  type Canvas,
  type CanvasOrder,
  type Manifest,
  MAX_CANVASES,
  type OtherMedia,
  type Range,
  standInOf,
  type ViewingDirection,
} from "./manifest.ts";
import { idOf, type Json, labelOf, LIMITS, listOf, objectsOf, type Reading, typeOf } from "./nodes.ts";
import { behaviorsOf, canvasIdOf, describedOf, providersOf, rightsOf } from "./resources.ts";

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
 * Reads a manifest of IIIF Presentation 2 or 3, in steps of a canvas or a range each, so that a page can react in between.
 * No JSON makes it throw, and its time grows with the size of the JSON. A part that cannot be read is left out; a canvas
 * that cannot be read is an empty one, so that the others stay in place.
 *
 * Most members of Presentation 2 differ from those of 3 in their name alone, so each part is read under both names.
 *
 * @param json parsed JSON from anywhere, which is not changed
 * @param url absolute address that the JSON was read from
 * @param languages the reader's languages as BCP 47 tags, the best first
 */
export function* readManifestInSteps(
  json: unknown,
  url: string,
  languages: readonly string[],
): Generator<undefined, ReadManifest, void> {
  if (!isObject(json)) return { ok: false, reason: "not a manifest" };
  const type = typeOf(json);
  if (type === "Collection" || type === "" && isCollection(json)) return { ok: false, reason: "a collection" };
  if (!(type === "Manifest" || type === "" && hasCanvases(json))) return { ok: false, reason: "not a manifest" };

  const manifest = withSequences(json);
  const entries = listOf(manifest.items, Infinity);
  if (entries.length === 0) return { ok: false, reason: "no canvases" };
  if (entries.length > MAX_CANVASES) return { ok: false, reason: "too large" };

  const reading: Reading = { base: url, languages: languages.slice(0, 20) };
  const canvases: Canvas[] = [];
  for (const entry of entries) {
    canvases.push(canvasOf(entry, String(canvases.length + 1), reading));
    yield;
  }
  const problem = canvases.some(({ isReadable }) => isReadable) ? problemOfMedia(canvases) : problemOfEntries(entries);
  if (problem !== null) return { ok: false, reason: problem };
  const index = indexOf(canvases);
  const { ranges, orders } = yield* new RangeReader(manifest.structures, index, reading).read();
  const { id: _, ...described } = describedOf(manifest, reading);
  return {
    ok: true,
    manifest: {
      ...described,
      label: labelOf(manifest.label, reading) ?? url,
      rights: rightsOf(manifest, reading),
      providers: providersOf(manifest, reading),
      navDate: typeof manifest.navDate === "string" ? manifest.navDate.slice(0, 100) : null,
      viewingDirection: DIRECTIONS.find((direction) => direction === manifest.viewingDirection) ?? DIRECTIONS[0],
      start: index.get(canvasIdOf(manifest.start)) ?? null,
      ranges,
      alternativeOrders: orders,
      canvases,
    },
  };
}

/**
 * Converts a manifest of Presentation 2: the canvases of its sequences become items, properties of the first sequence become
 * those of the manifest, and each further sequence becomes a range of behavior `sequence`, as in Presentation 3.
 */
function withSequences(json: Json): Json {
  const [first, ...others] = objectsOf(json.sequences, LIMITS.sequences);
  if (!first) return json;
  const both = (name: string) => [json, first].flatMap((node) => listOf(node[name], LIMITS.links));
  const orders = others.map(({ label, canvases }) => ({
    label,
    behavior: "sequence",
    items: listOf(canvases, MAX_CANVASES),
  }));
  const items = [...listOf(first.canvases, Infinity)];
  const known = new Set(items.map(idOf));
  // A later sequence refers to canvases of an earlier one by their identifiers.
  for (const canvas of others.flatMap(({ canvases }) => listOf(canvases, Infinity))) {
    const id = idOf(canvas);
    if (known.has(id) || !isObject(canvas)) continue;
    known.add(id);
    items.push(canvas);
  }
  return {
    ...json,
    items,
    viewingHint: both("viewingHint"),
    rendering: both("rendering"),
    viewingDirection: json.viewingDirection ?? first.viewingDirection,
    start: json.startCanvas ?? first.startCanvas,
    structures: [...orders, ...objectsOf(json.structures, LIMITS.ranges)],
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

/** A manifest of other media has neither images nor placeholders. */
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

/** The first is the usual one. */
const DIRECTIONS: readonly ViewingDirection[] = ["left-to-right", "right-to-left", "top-to-bottom", "bottom-to-top"];

/** The index of each canvas by its identifier. */
type CanvasIndex = ReadonlyMap<string, number>;

/**
 * Reads the table of contents. Ranges are nested or refer to each other by their identifiers. Each is shown once, so
 * circles end, and those below a depth are left out.
 */
class RangeReader {
  readonly #top: readonly Json[];
  readonly #index: CanvasIndex;
  readonly #reading: Reading;
  readonly #byId = new Map<string, Json>();
  readonly #shown = new Set<Json>();
  #entriesLeft = LIMITS.rangeEntries;

  constructor(structures: unknown, index: CanvasIndex, reading: Reading) {
    this.#top = objectsOf(structures, LIMITS.ranges);
    this.#index = index;
    this.#reading = reading;
    for (const range of this.#top) {
      const id = idOf(range);
      if (id !== "" && !this.#byId.has(id)) this.#byId.set(id, range);
    }
  }

  *read(): Generator<undefined, { ranges: readonly Range[]; orders: readonly CanvasOrder[] }, void> {
    const orders = this.#top.filter((range) => behaviorsOf(range).includes("sequence"));
    for (const range of orders) this.#shown.add(range);
    const referred = new Set(this.#top.flatMap((range) => this.#children(range)));
    const contents = this.#top.filter((range) => !this.#shown.has(range));
    const roots = contents.filter((range) => !referred.has(range));
    // If every range is part of another one, they form circles: start with any.
    const ranges: Range[] = [];
    for (const range of roots.length > 0 ? roots : contents) {
      const read = this.#range(range, 0);
      // A `top` range is the table itself, not an entry in it.
      if (read) ranges.push(...(behaviorsOf(range).includes("top") ? read.children : [read]));
      yield;
    }
    return {
      ranges,
      orders: orders.map((range) => ({
        label: labelOf(range.label, this.#reading) ?? "",
        canvases: this.#ordered(range, 0),
      })).filter(({ canvases }) => canvases.length > 0),
    };
  }

  #range(node: Json, depth: number): Range | null {
    if (depth >= LIMITS.rangeDepth || this.#shown.size >= LIMITS.ranges || this.#shown.has(node)) return null;
    this.#shown.add(node);
    const children = this.#children(node).flatMap((child) => this.#range(child, depth + 1) ?? []);
    if (behaviorsOf(node).includes("no-nav")) return null;
    const canvases = this.#canvases(node);
    const label = labelOf(node.label, this.#reading) ?? "";
    return label === "" && canvases.length === 0 && children.length === 0 ? null : { label, canvases, children };
  }

  #children(node: Json): readonly Json[] {
    return entriesOf(node).flatMap((entry) => {
      const known = this.#byId.get(idOf(entry));
      if (known) return [known];
      return isObject(entry) && typeOf(entry) === "Range" ? [entry] : [];
    });
  }

  /** The canvases of a range and of the ranges in it, in their order. */
  #ordered(node: Json, depth: number): readonly number[] {
    if (depth >= LIMITS.rangeDepth) return [];
    const children = this.#children(node).filter((child) => !this.#shown.has(child));
    for (const child of children) this.#shown.add(child);
    return [...this.#canvases(node), ...children.flatMap((child) => this.#ordered(child, depth + 1))];
  }

  #canvases(node: Json): readonly number[] {
    const indices: number[] = [];
    for (const entry of entriesOf(node)) {
      const found = this.#index.get(canvasIdOf(entry));
      if (found === undefined || indices.at(-1) === found) continue;
      if (this.#entriesLeft-- <= 0) break;
      indices.push(found);
    }
    return indices;
  }
}

/** The entries of a range: Presentation 2 has ranges, canvases, and both together as members. */
function entriesOf({ items, ranges, canvases, members }: Json): readonly unknown[] {
  const limit = LIMITS.rangeEntries;
  return items === undefined
    ? [ranges, canvases, members].flatMap((list) => listOf(list, limit))
    : listOf(items, limit);
}
