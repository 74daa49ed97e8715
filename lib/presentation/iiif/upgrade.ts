import { convertLanguageMapping, presentation2to3 } from "@iiif/parser/presentation-2";

import { isObject } from "@/lib/std/untrusted.ts";
import { idOf, type Json, listOf, objectsOf, typeOf } from "./json.ts";
import { LIMITS } from "./limits.ts";
import { MAX_CANVASES } from "./manifest.ts";
import {
  strictCanvas,
  strictLinks,
  strictManifest,
  type StrictNode,
  strictOrder,
  strictRange,
} from "./strict_nodes.ts";

/**
 * Upgrades a manifest of Presentation 2 to Presentation 3, in steps of a range each. Its canvases are listed as they
 * are: {@linkcode upgradedCanvas} is for each when it is read, so that no more than one is held twice.
 *
 * @param json a manifest with sequences, which is not changed
 */
export function* upgradeInSteps(json: Json): Generator<undefined, Json, void> {
  const sequences = objectsOf(json.sequences, LIMITS.sequences);
  const lists = sequences.map(({ canvases }) => listOf(canvases, Infinity));
  const structures = sequences.slice(1).map((sequence, at) =>
    upgrader.traverseRange(strictOrder(sequence, lists[at + 1].slice(0, MAX_CANVASES)))
  );
  const budget = { entriesLeft: LIMITS.rangeEntries };
  for (const range of objectsOf(json.structures, LIMITS.ranges)) {
    structures.push(upgrader.traverseRange(strictRange(range, budget)));
    yield;
  }
  return {
    ...upgrader.traverseManifest(strictManifest(json, sequences[0])),
    ...putBack(json),
    items: canvasesOf(lists),
    // The reader joins ranges. The library's time for that grows with the square of their count.
    structures,
  };
}

/** Upgrades a canvas. One that cannot be upgraded leaves its identifier; an entry that is no canvas stays what it is. */
export function upgradedCanvas(entry: unknown): unknown {
  if (!isObject(entry) || !/^(?:Canvas)?$/.test(typeOf(entry))) return entry;
  try {
    // The library takes a canvas for an image if its identifier is a file name.
    return { ...library.traverseCanvas.call(upgrader, strictCanvas(entry)), ...putBack(entry), type: "Canvas" };
  } catch {
    return idOf(entry);
  }
}

/** The canvases of all sequences; a later sequence refers to canvases of an earlier one by their identifiers. */
function canvasesOf(lists: readonly (readonly unknown[])[]): readonly unknown[] {
  if (lists.length === 1) return lists[0];
  const canvases = [...lists[0]];
  const known = new Set(canvases.map(idOf));
  for (const canvas of lists.slice(1).flat()) {
    const id = idOf(canvas);
    if (known.has(id) || !isObject(canvas)) continue;
    known.add(id);
    canvases.push(canvas);
  }
  return canvases;
}

/** The library leaves out licences other than of Creative Commons, and related pages but the first. */
const putBack = ({ license, related }: Json): Json => ({
  rights: license,
  homepage: strictLinks(related).map((link) => library.traverseContentResource(link)),
});

type Node = "Manifest" | "Canvas" | "Annotation" | "AnnotationList" | "ContentResource" | "Range";
type Upgrader = Readonly<Record<`traverse${Node}`, (node: StrictNode) => Json>>;

/** The library's types are those of resources without faults. */
const library = presentation2to3 as unknown as Upgrader;
const upgradedTexts = convertLanguageMapping as (texts: unknown) => unknown;

const replaced: Omit<Upgrader, "traverseManifest" | "traverseRange"> = {
  /** Only references come here: the library calls it for what is within a range or a sequence. */
  traverseCanvas: (reference) => ({ id: reference["@id"], type: "Canvas" }),
  traverseAnnotationList(list) {
    const { "@id": id, label, resources } = list;
    const isReference = label === undefined && listOf(resources, 1).length === 0;
    return isReference ? { id, type: "AnnotationPage" } : library.traverseAnnotationList.call(upgrader, list);
  },
  traverseAnnotation({ resource, stylesheet, ...annotation }) {
    // The library upgrades bodies twice. The second time drops their labels, and other members with a new name.
    const body = objectsOf(resource, LIMITS.choices).map((node) => upgrader.traverseContentResource(node));
    if (body.length === 0) return { type: "Annotation" };
    const upgrade = (on: unknown) => library.traverseAnnotation.call(upgrader, { ...annotation, on, resource: [] });
    try {
      return { ...upgrade(annotation.on), body, stylesheet };
    } catch {
      // The library throws on a target of a kind that it does not know.
      return { ...upgrade(""), body, stylesheet };
    }
  },
  /** The library drops so much of an image that only the texts are left to it, and choices as a whole. */
  traverseContentResource(resource) {
    if (resource["@type"] === "oa:Choice") return library.traverseContentResource.call(upgrader, resource);
    const { "@id": id, "@type": type, label, style, full, ...unchanged } = resource;
    return {
      ...unchanged,
      id,
      type,
      label: label && upgradedTexts(label),
      styleClass: style,
      source: full && upgrader.traverseContentResource(full as StrictNode),
    };
  },
};

/** The library's upgrader, which calls its own methods for what is within a node, with some of them replaced. */
const upgrader: Upgrader = Object.assign(Object.create(library), replaced);
