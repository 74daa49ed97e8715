import { isObject } from "@/lib/std/untrusted.ts";
import { idOf, type Json, listOf, objectsOf, typeOf } from "./json.ts";
import { LIMITS } from "./limits.ts";

/**
 * A node of Presentation 2 as `@iiif/parser` expects it. The library throws on members of another shape and writes into
 * its input, so each node is written anew, from the members that the model has a use for.
 */
export type StrictNode = Readonly<Record<string, unknown>>;

/** The manifest without its canvases and ranges. What is said of its first sequence holds for the whole. */
export function strictManifest(manifest: Json, sequence: Json): StrictNode {
  return {
    ...described(manifest),
    "@type": "sc:Manifest",
    logo: images(manifest.logo),
    behavior: [manifest.viewingHint, sequence.viewingHint].flatMap(words),
    rendering: [manifest.rendering, sequence.rendering].flatMap(strictLinks),
    // The library takes these two from sequences alone, and only from those with a canvas.
    sequences: [{
      viewingDirection: manifest.viewingDirection ?? sequence.viewingDirection,
      startCanvas: canvasIdOf(manifest.startCanvas) || canvasIdOf(sequence.startCanvas),
      canvases: [canvasReference(null)],
    }],
  };
}

export function strictCanvas(canvas: Json): StrictNode {
  const id = idOf(canvas);
  return {
    ...described(canvas),
    "@type": "sc:Canvas",
    width: canvas.width,
    height: canvas.height,
    behavior: words(canvas.viewingHint),
    rendering: strictLinks(canvas.rendering),
    images: objectsOf(canvas.images, LIMITS.paintings).map((image) => ({
      "@type": "oa:Annotation",
      motivation: words(image.motivation),
      stylesheet: isObject(image.stylesheet) ? image.stylesheet.chars ?? image.stylesheet.value : image.stylesheet,
      on: targetOf(image.on) || id,
      resource: listOf(image.resource, LIMITS.choices).map(bodyOf),
    })),
    otherContent: listOf(canvas.otherContent, LIMITS.annotationPages).map(annotationList),
  };
}

/** How many entries of ranges are still read: they may be nested, so that no list bounds their count. */
interface RangeBudget {
  entriesLeft: number;
}

/** A range with those within it, down to the depth that is read. */
export function strictRange(range: Json, budget: RangeBudget, depth = 0): StrictNode {
  const entriesOf = (list: unknown) => {
    const entries = listOf(list, budget.entriesLeft);
    budget.entriesLeft -= entries.length;
    return entries;
  };
  const nested = (entry: unknown) =>
    strictRange(isObject(entry) && depth < LIMITS.rangeDepth ? entry : { "@id": idOf(entry) }, budget, depth + 1);
  return {
    ...named(range),
    "@type": "sc:Range",
    behavior: words(range.viewingHint),
    ranges: entriesOf(range.ranges).map(nested),
    canvases: entriesOf(range.canvases).map(canvasReference),
    members: entriesOf(range.members).map((entry) =>
      isObject(entry) && typeOf(entry) === "Range" ? nested(entry) : canvasReference(entry)
    ),
  };
}

/** An order of canvases, which Presentation 3 has as a range. */
export function strictOrder(sequence: Json, canvases: readonly unknown[]): StrictNode {
  return {
    "@id": NO_ID,
    "@type": "sc:Range",
    label: textsOf(sequence.label),
    behavior: ["sequence"],
    canvases: canvases.map(canvasReference),
  };
}

/** Links are addresses alone or objects. */
export function strictLinks(value: unknown): readonly StrictNode[] {
  return listOf(value, LIMITS.links).map((link) => named(isObject(link) ? link : { "@id": link }));
}

/** The library invents an identifier where there is none, and trims others. */
const NO_ID = " ";

/** What nodes of all kinds may have. */
function named(node: Json): StrictNode {
  return {
    "@id": idOf(node) || NO_ID,
    "@type": typeOf(node),
    label: textsOf(node.label),
    format: stringOf(node.format),
    profile: stringOf(node.profile),
  };
}

function described(node: Json): StrictNode {
  return {
    ...named(node),
    description: textsOf(node.description),
    attribution: textsOf(node.attribution),
    metadata: listOf(node.metadata, LIMITS.metadata).filter(isObject).map(({ label, value }) => ({
      label: textsOf(label),
      value: textsOf(value),
    })),
    navDate: stringOf(node.navDate),
    thumbnail: images(node.thumbnail),
    seeAlso: strictLinks(node.seeAlso),
  };
}

const images = (value: unknown) => listOf(value, LIMITS.images).map(imageOf);

function bodyOf(value: unknown): StrictNode {
  if (!isObject(value) || typeOf(value) !== "Choice") return imageOf(value);
  const options = [...listOf(value.default, 1), ...listOf(value.item, LIMITS.choices)].map(imageOf);
  return {
    "@id": NO_ID,
    "@type": "oa:Choice",
    default: options[0],
    item: options.slice(1),
  };
}

/** An image, or a part of one with the image as its `full`. */
function imageOf(value: unknown): StrictNode {
  const node: Json = isObject(value) ? value : { "@id": value };
  const { full, width, height, service, selector, style } = node;
  return {
    ...named(node),
    width,
    height,
    service,
    selector: objectsOf(selector, LIMITS.selectors).map((each) => isObject(each.default) ? each.default : each),
    style,
    full: isObject(full)
      ? imageOf({ ...full, full: undefined })
      : stringOf(full) && imageOf({ "@id": full, "@type": "Image" }),
  };
}

/** Of the annotations, only those with a file are read. */
function annotationList(value: unknown): StrictNode {
  const list: Json = isObject(value) ? value : { "@id": value };
  return {
    ...named(list),
    resources: objectsOf(list.resources, LIMITS.annotations).map(({ resource }) => ({
      "@type": "oa:Annotation",
      on: "",
      resource: objectsOf(resource, LIMITS.supplements)
        .filter(({ format, profile }) => format !== undefined || profile !== undefined)
        .map(named),
    })),
  };
}

/** The canvas, or the part of it, that something is painted on; "" for none. */
function targetOf(value: unknown): StrictNode | string {
  const on = listOf(value, 1)[0];
  const id = canvasIdOf(on);
  return isObject(on) && isObject(on.selector)
    ? { "@type": "oa:SpecificResource", full: id, selector: { "@type": "oa:FragmentSelector", ...on.selector } }
    : id;
}

const canvasReference = (value: unknown): StrictNode => ({ "@id": canvasIdOf(value) || NO_ID, "@type": "sc:Canvas" });

const canvasIdOf = (value: unknown) => idOf(isObject(value) ? value.full ?? value : value);

const stringOf = (value: unknown) => typeof value === "string" ? value : undefined;

const words = (value: unknown) => listOf(value, LIMITS.words).filter((word) => typeof word === "string");

/** Strings, and objects with a value and a language. A language map, as Presentation 3 has it, becomes such objects. */
function textsOf(value: unknown): readonly StrictNode[] | string | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string") return value.trim() === "" ? undefined : value;
  const texts = isObject(value) && !("@value" in value)
    ? Object.keys(value).slice(0, LIMITS.values).flatMap((language) =>
      listOf(value[language], LIMITS.values).flatMap((text) => textOf(text, language))
    )
    : listOf(value, LIMITS.values).flatMap((entry) =>
      isObject(entry) ? textOf(entry["@value"], entry["@language"]) : textOf(entry, undefined)
    );
  return texts.length === 0 ? undefined : texts;
}

function textOf(value: unknown, language: unknown): StrictNode[] {
  if (typeof value !== "string" && typeof value !== "number" || value === "") return [];
  return [{ "@value": String(value), "@language": isLanguage(language) ? language.toLowerCase() : undefined }];
}

/** The library has a member of an object for each language, so that one must not have the name of an inherited one. */
const isLanguage = (value: unknown): value is string => typeof value === "string" && !(value.toLowerCase() in {});
