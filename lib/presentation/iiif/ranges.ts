import { isObject } from "@/lib/std/untrusted.ts";
import { behaviorsOf } from "./canvas.ts";
import { idOf, type Json, listOf, objectsOf, type Reading, typeOf } from "./json.ts";
import { LIMITS } from "./limits.ts";
import { canvasIdOf } from "./links.ts";
import type { CanvasOrder, Range } from "./manifest.ts";
import { labelOf } from "./text.ts";

/** The index of each canvas by its identifier. */
export type CanvasIndex = ReadonlyMap<string, number>;

interface Structures {
  readonly ranges: readonly Range[];
  readonly orders: readonly CanvasOrder[];
}

/**
 * Reads the table of contents. Ranges are nested or refer to each other by their identifiers. Each is shown once, so
 * circles end, and those below a depth are left out.
 */
export function structuresOf(structures: unknown, index: CanvasIndex, reading: Reading): Structures {
  return new RangeReader(objectsOf(structures, LIMITS.ranges), index, reading).read();
}

class RangeReader {
  readonly #top: readonly Json[];
  readonly #index: CanvasIndex;
  readonly #reading: Reading;
  readonly #byId = new Map<string, Json>();
  readonly #shown = new Set<Json>();
  #entriesLeft = LIMITS.rangeEntries;

  constructor(top: readonly Json[], index: CanvasIndex, reading: Reading) {
    this.#top = top;
    this.#index = index;
    this.#reading = reading;
    for (const range of top) {
      const id = idOf(range);
      if (id !== "" && !this.#byId.has(id)) this.#byId.set(id, range);
    }
  }

  read(): Structures {
    const orders = this.#top.filter((range) => behaviorsOf(range).includes("sequence"));
    for (const range of orders) this.#shown.add(range);
    const referred = new Set(this.#top.flatMap((range) => this.#children(range)));
    const contents = this.#top.filter((range) => !this.#shown.has(range));
    const roots = contents.filter((range) => !referred.has(range));
    // Where every range is part of another one, they go in circles, and any of them may stand for the whole.
    const ranges = (roots.length > 0 ? roots : contents).flatMap((range) => {
      const read = this.#range(range, 0);
      // The range that stands for the whole table has nothing to say of its own.
      return read === null ? [] : behaviorsOf(range).includes("top") ? read.children : [read];
    });
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
    return label === "" && canvases.length === 0 && children.length === 0
      ? null
      : { id: idOf(node), label, canvases, children };
  }

  #children(node: Json): readonly Json[] {
    return listOf(node.items, LIMITS.rangeEntries).flatMap((entry) => {
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
    for (const entry of listOf(node.items, LIMITS.rangeEntries)) {
      const found = this.#index.get(canvasIdOf(entry));
      if (found === undefined || indices.at(-1) === found) continue;
      if (this.#entriesLeft-- <= 0) break;
      indices.push(found);
    }
    return indices;
  }
}
