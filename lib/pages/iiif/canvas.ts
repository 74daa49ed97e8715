import { isObject } from "@/lib/std/untrusted.ts";
import { imageSourceOf, imageSourcesOf } from "./image_service.ts";
import type { Box, Canvas, ImageChoice, ImageSource, OtherMedia, PaintedImage, Reference, Size } from "./manifest.ts";
import {
  extentOf,
  idOf,
  type Json,
  labelOf,
  LIMITS,
  listOf,
  objectsOf,
  type Reading,
  typeOf,
  wordOf,
} from "./nodes.ts";
import { altoAmong, describedOf, linksOf } from "./resources.ts";

/**
 * Reads a canvas. Anything else gives an empty one that is not readable.
 *
 * @param number what the canvas is called without a label
 */
export function canvasOf(value: unknown, number: string, reading: Reading): Canvas {
  if (isObject(value) && /^(?:Canvas)?$/.test(typeOf(value))) return readCanvas(value, number, reading, true);
  return { ...readCanvas({ id: idOf(value) }, number, reading, false), isReadable: false };
}

/** @param isOuter whether the canvases within it are read as well */
function readCanvas(node: Json, number: string, reading: Reading, isOuter: boolean): Canvas {
  const width = extentOf(node.width);
  const height = extentOf(node.height);
  const inner = (value: unknown) => isOuter && isObject(value) ? readCanvas(value, number, reading, false) : null;
  const described = describedOf(node, reading);
  return {
    ...described,
    ...paintingsOf(node, { width: width ?? undefined, height: height ?? undefined }, reading),
    isReadable: true,
    label: labelOf(node.label, reading) ?? number,
    width,
    height,
    thumbnails: imageSourcesOf(node.thumbnail, reading),
    placeholder: inner(node.placeholderCanvas),
    accompanying: inner(node.accompanyingCanvas),
    altoSources: altoAmong([...described.seeAlso, ...described.renderings, ...supplementsOf(node, reading)]),
  };
}

/** Files that embedded annotations name as a supplement to the canvas. */
function supplementsOf({ annotations, otherContent }: Json, reading: Reading): readonly Reference[] {
  return objectsOf(annotations ?? otherContent, LIMITS.annotationPages).flatMap((page) =>
    objectsOf(page.items ?? page.resources, LIMITS.annotations).flatMap((annotation) => {
      const bodies = objectsOf(annotation.body ?? annotation.resource, LIMITS.supplements);
      return linksOf(bodies.filter((body) => body.format !== undefined || body.profile !== undefined), reading);
    })
  );
}

/** Reads what annotations paint on a canvas of an extent. Annotations of another motivation are left out. */
function paintingsOf(canvas: Json, extent: Partial<Size>, reading: Reading) {
  const images: PaintedImage[] = [];
  const otherMedia = new Set<OtherMedia>();
  for (const annotation of annotationsOf(canvas)) {
    const bodies = listOf(annotation.body ?? annotation.resource, LIMITS.choices);
    const target = boxOf(annotation.target ?? annotation.on, extent);
    for (const body of bodies) {
      const options = optionsOf(nodeOf(body));
      const choices = options.flatMap((option) => choiceOf(option, stylesheetOf(annotation), reading) ?? []);
      if (choices.length > 0) images.push({ choices, target });
      else otherMedia.add(mediaOf(options[0] ?? {}));
    }
  }
  return { images, otherMedia: [...otherMedia] };
}

/** Presentation 2 has a list of annotations where Presentation 3 has pages of them. */
function annotationsOf({ items, images }: Json): readonly Json[] {
  const paged = objectsOf(items, LIMITS.paintings).flatMap((page) => objectsOf(page.items, LIMITS.paintings));
  return [...paged, ...objectsOf(images, LIMITS.paintings)].slice(0, LIMITS.paintings).filter(isPainting);
}

function isPainting({ motivation }: Json): boolean {
  const motivations = listOf(motivation, 10);
  return motivations.length === 0 ||
    motivations.some((name) => typeof name === "string" && /^(?:\w+:)?painting$/.test(name));
}

/** The options of a Choice body; any other body is its only option. */
function optionsOf(body: Json): readonly Json[] {
  if (typeOf(body) !== "Choice") return [body];
  const items = body.items ?? [...listOf(body.default, 1), ...listOf(body.item, LIMITS.choices)];
  return listOf(items, LIMITS.choices).filter(isNoNil).map(nodeOf);
}

/** A resource that is named by its address alone, or is an object. */
const nodeOf = (value: unknown): Json => isObject(value) ? value : { id: value };

/** Presentation 2 has `rdf:nil` among choices for no image at all. */
const isNoNil = (value: unknown) => idOf(value) !== "rdf:nil";

function choiceOf(option: Json, stylesheet: string, reading: Reading): ImageChoice | null {
  const image = imageOf(option);
  const source = imageSourceOf(image, reading);
  if (source === null || !isImage(image, source)) return null;
  const [href, fragment] = splitFragment(source.href ?? "");
  const selectors = selectorsOf(option);
  const extent = extentOfSource(source);
  const region = selectors.map((selector) => selectedBox(selector, extent)).find((box) => box !== null) ??
    fragmentBox(fragment, extent);
  return {
    label: labelOf(option.label ?? image.label, reading),
    source: fragment === "" ? source : { ...source, href },
    region,
    ...turnOf(selectors, option, stylesheet),
  };
}

/** Presentation 2 may have a choice of selectors. */
function selectorsOf({ selector }: Json): readonly Json[] {
  return objectsOf(selector, LIMITS.selectors).map((each) => isObject(each.default) ? each.default : each);
}

/** The image itself, where the option is a part of one. */
function imageOf(option: Json): Json {
  const source = option.source ?? option.full;
  return isObject(source) ? source : typeof source === "string" ? { id: source, type: "Image" } : option;
}

function isImage(node: Json, { service, href }: ImageSource): boolean {
  const type = typeOf(node);
  if (type !== "") return /^(?:Still)?Image$/i.test(type);
  if (service !== null) return true;
  const format = wordOf(node.format);
  // A file of which nothing is known is tried as an image.
  return format !== null ? format.startsWith("image/") : !OTHER_FILES.some(([, names]) => names.test(href ?? ""));
}

/** Files of other media, by the ends of their names. */
const OTHER_FILES: readonly (readonly [OtherMedia, RegExp])[] = [
  ["audio", /\.(?:aac|flac|m4a|mp3|oga|ogg|opus|wav)(?:[?#]|$)/i],
  ["video", /\.(?:m3u8|m4v|mkv|mov|mp4|mpd|mpeg|mpg|ogv|webm)(?:[?#]|$)/i],
  ["3D", /\.(?:glb|gltf|obj|ply|stl|usdz)(?:[?#]|$)/i],
  ["text", /\.(?:csv|docx?|epub|html?|json|md|odt|pdf|rtf|txt|vtt|xml)(?:[?#]|$)/i],
];

function mediaOf(option: Json): OtherMedia {
  const node = imageOf(option);
  const words = `${typeOf(node)} ${wordOf(node.format) ?? ""}`.toLowerCase();
  if (/sound|audio/.test(words)) return "audio";
  if (/video|movingimage/.test(words)) return "video";
  if (/model|gltf|physicalobject/.test(words)) return "3D";
  if (/text/.test(words)) return "text";
  return words.trim() === "" ? OTHER_FILES.find(([, names]) => names.test(idOf(node)))?.[0] ?? "unknown" : "unknown";
}

function extentOfSource({ service, width, height }: ImageSource): Partial<Size> {
  return { width: service?.width ?? width ?? undefined, height: service?.height ?? height ?? undefined };
}

/** The rotation of a selector of the Image API, or of the style class of an option. */
function turnOf(selectors: readonly Json[], option: Json, stylesheet: string) {
  const selected = selectors.map(({ rotation }) => rotation).find((rotation) => rotation !== undefined);
  const stated = selected ?? styledRotation(option, stylesheet);
  const text = typeof stated === "number" ? String(stated) : typeof stated === "string" ? stated : "";
  const [, mirror = "", degrees = "0"] = /^(!?)(\d{1,3}(?:\.\d{1,6})?)$/.exec(text) ?? [];
  return { rotation: Number(degrees) % 360, isMirrored: mirror === "!" };
}

/** Rotation by the class of a stylesheet: degrees, "0" without one. Of the rest of a style nothing is used. */
function styledRotation({ styleClass, style = styleClass }: Json, stylesheet: string): string {
  const name = typeof style === "string" ? style : "";
  if (stylesheet === "" || !/^[\w-]{1,100}$/.test(name)) return "0";
  const at = stylesheet.indexOf(`.${name}`);
  const rule = at < 0 ? "" : stylesheet.slice(at, at + 1000).split("}", 1)[0];
  const degrees = Number(/\brotate\(\s*(-?\d{1,3}(?:\.\d{1,6})?)deg\s*\)/.exec(rule)?.[1] ?? 0);
  return String(((degrees % 360) + 360) % 360);
}

function stylesheetOf({ stylesheet }: Json): string {
  const text = isObject(stylesheet) ? stylesheet.value ?? stylesheet.chars : stylesheet;
  return typeof text === "string" ? text.slice(0, 20_000) : "";
}

function splitFragment(id: string): readonly [address: string, fragment: string] {
  const at = id.indexOf("#");
  return at < 0 ? [id, ""] : [id.slice(0, at), id.slice(at + 1)];
}

/** The box that a target or a source is limited to; null for all of it. */
function boxOf(target: unknown, extent: Partial<Size>): Box | null {
  const node = nodeOf(listOf(target, 1)[0]);
  const box = selectorsOf(node).map((selector) => selectedBox(selector, extent)).find((box) => box !== null);
  return box ?? fragmentBox(splitFragment(idOf(node.source ?? node.full ?? node))[1], extent);
}

function selectedBox(selector: Json, extent: Partial<Size>): Box | null {
  const text = typeOf(selector) === "ImageApiSelector" ? selector.region : selector.value;
  return typeof text === "string" ? fragmentBox(text, extent) : null;
}

const NUMBER = String.raw`(\d{1,8}(?:\.\d{1,8})?)`;
const XYWH = new RegExp(
  `^(?:[^#]*&)?(?:xywh=)?(pixel:|percent:|pct:)?${[NUMBER, NUMBER, NUMBER, NUMBER].join(",")}(?:&.*)?$`,
  "s",
);

/** Reads `xywh=…` of a media fragment or a region of the Image API; null for anything else, and for an empty box. */
function fragmentBox(text: string, { width, height }: Partial<Size>): Box | null {
  if (text === "") return null;
  if (text === "square" && width && height) {
    const side = Math.min(width, height);
    return { x: Math.floor((width - side) / 2), y: Math.floor((height - side) / 2), width: side, height: side };
  }
  const [, unit, ...numbers] = text.length > 500 ? [] : XYWH.exec(text) ?? [];
  const [x, y, w, h] = numbers.map(Number);
  if (!(w > 0 && h > 0)) return null;
  if (unit === undefined || unit === "pixel:") return { x, y, width: w, height: h };
  if (!width || !height) return null;
  return { x: x * width / 100, y: y * height / 100, width: w * width / 100, height: h * height / 100 };
}
