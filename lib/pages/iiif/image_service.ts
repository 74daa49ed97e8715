import { isObject } from "@/lib/std/untrusted.ts";
import type { ImageService, ImageSource, Size, TileSet } from "./manifest.ts";
import { addressOf, extentOf, type Json, LIMITS, listOf, objectsOf, type Reading, typeOf, wordOf } from "./nodes.ts";

const MAX_SERVICES = 20;
const MAX_SIZES = 100;

/** Reads thumbnails and logos. Each is an address or an object. */
export function imageSourcesOf(value: unknown, reading: Reading): readonly ImageSource[] {
  return listOf(value, LIMITS.images).flatMap((entry) =>
    imageSourceOf(isObject(entry) ? entry : { id: entry }, reading) ?? []
  );
}

/** Reads an image resource; null where neither the file nor a service has an address. */
export function imageSourceOf(node: Json, reading: Reading): ImageSource | null {
  const service = imageServiceOf(node.service, reading);
  const href = addressOf(node, reading);
  if (service === null && href === null) return null;
  return { href, format: wordOf(node.format), width: extentOf(node.width), height: extentOf(node.height), service };
}

/** The first image service among the services of a resource; null without one. */
export function imageServiceOf(services: unknown, reading: Reading): ImageService | null {
  for (const node of objectsOf(services, MAX_SERVICES)) {
    const version = versionOf(node);
    const address = version === null ? null : addressOf(node, reading);
    if (version === null || address === null) continue;
    return {
      id: address.replace(/\/info\.json$/, "").replace(/\/+$/, ""),
      version,
      level: levelOf(node),
      width: extentOf(node.width),
      height: extentOf(node.height),
      sizes: objectsOf(node.sizes, MAX_SIZES).flatMap((size) => sizeOf(size) ?? []),
      tiles: tileSetsOf(node),
      ...limitsOf(node),
    };
  }
  return null;
}

/** Profiles of version 1 have a host of their own or a path of version 1. */
const VERSION_1 = /library\.stanford\.edu\/iiif\/image-api|iiif\.io\/api\/image\/1/;
const VERSION_2 = /iiif\.io\/api\/image\/2/;
const VERSION_3 = /iiif\.io\/api\/image\/3/;
/** Version 3 writes a level by its name alone; services of version 2 do so too, beside their context. */
const LEVEL_ALONE = /^level[012]$/;

function versionOf(node: Json): 1 | 2 | 3 | null {
  const stated = /^ImageService([123])$/.exec(typeOf(node))?.[1];
  if (stated !== undefined) return Number(stated) as 1 | 2 | 3;
  const hints = [...listOf(node["@context"], 10), ...profilesOf(node)].filter((hint) => typeof hint === "string");
  if (hints.some((hint) => VERSION_3.test(hint))) return 3;
  if (hints.some((hint) => VERSION_2.test(hint))) return 2;
  if (hints.some((hint) => VERSION_1.test(hint))) return 1;
  return hints.some((hint) => LEVEL_ALONE.test(hint)) ? 3 : null;
}

function levelOf(node: Json): 0 | 1 | 2 | null {
  for (const profile of profilesOf(node)) {
    const level = typeof profile === "string" ? /(?:^|[/#])level([012])(?:\.json)?$/.exec(profile)?.[1] : undefined;
    if (level !== undefined) return Number(level) as 0 | 1 | 2;
  }
  return null;
}

/** The profile is a string, or a list of one and of objects with limits. */
const profilesOf = (node: Json) => listOf(node.profile, 20);

/** Limits are members of the service from version 3 on, of its profile before. */
function limitsOf(node: Json): Pick<ImageService, "maxWidth" | "maxHeight" | "maxArea"> {
  const from = [node, ...objectsOf(profilesOf(node), 20)];
  const limit = (name: string, read = extentOf) => from.map((each) => read(each[name])).find((n) => n !== null) ?? null;
  // Without `maxHeight`, `maxWidth` limits both (Image API 3.0, section 5.3).
  const maxWidth = limit("maxWidth");
  return { maxWidth, maxHeight: limit("maxHeight") ?? maxWidth, maxArea: limit("maxArea", areaOf) };
}

const areaOf = (value: unknown) => typeof value === "number" && value > 0 && Number.isSafeInteger(value) ? value : null;

function sizeOf(node: Json): Size | null {
  const width = extentOf(node.width);
  const height = extentOf(node.height);
  return width === null || height === null ? null : { width, height };
}

/** Version 1 has one set, as members of the service. */
function tileSetsOf({ tiles, tile_width: width, tile_height: height, scale_factors: scaleFactors }: Json): TileSet[] {
  return objectsOf(tiles ?? { width, height, scaleFactors }, MAX_SIZES).flatMap((tiles) => tileSetOf(tiles) ?? []);
}

function tileSetOf(node: Json): TileSet | null {
  const width = extentOf(node.width);
  if (width === null) return null;
  const scaleFactors = listOf(node.scaleFactors, 30).flatMap((factor) => extentOf(factor) ?? []);
  return { width, height: extentOf(node.height) ?? width, scaleFactors };
}

/** An address of an image file together with its extent, in pixels where that is known. */
export interface ImageFile {
  readonly href: string;
  readonly width: number | null;
  readonly height: number | null;
}

/** Most pixels of a file that is loaded as a thumbnail without being one: about half a megabyte as a JPEG. */
const MAX_THUMBNAIL_PIXELS = 1_000_000;

/**
 * The file to show a page's painting with in a small frame if the page has no thumbnail.
 *
 * @param canvas extent of the canvas, for an image without an extent
 * @returns null where there is no small file: a list of whole images would load hundreds of megabytes
 */
export function smallFileOf(
  source: ImageSource,
  frame: Size,
  canvas: Pick<ImageSource, "width" | "height">,
): ImageFile | null {
  const file = thumbnailOf(source, frame);
  if (file === null) return null;
  const { width, height } = file.width !== null && file.height !== null ? file : canvas;
  // A service scales to the width that is requested, also where the height is not known.
  const isScaled = file.width !== null && file.height === null && file.href !== source.href;
  const isSmall = width !== null && height !== null && width * height <= MAX_THUMBNAIL_PIXELS;
  return isScaled || isSmall ? file : null;
}

/**
 * The file to show a whole image with in a small frame.
 *
 * @param frame wanted extent in device pixels; the file covers it in one direction where there is one that large
 * @returns null where the server has no address for a small file
 */
export function thumbnailOf(source: ImageSource, frame: Size): ImageFile | null {
  const { service } = source;
  const scaled = service === null ? null : scaledFile({ ...source, service }, frame);
  if (scaled !== null || source.href === null) return scaled;
  return { href: source.href, width: source.width, height: source.height };
}

function scaledFile(source: ImageSource & ServedImage, frame: Size): ImageFile | null {
  const { service } = source;
  const ready = readySizes(service).sort((a, b) => a.width - b.width);
  const covers = (size: Size) => size.width >= frame.width || size.height >= frame.height;
  const listed = ready.find(covers);
  // A listed size of up to four times the frame is ready on the server, so it comes sooner than one of the right size.
  if (listed && (service.level === 0 || listed.width <= frame.width * 4)) return sizedFile(source, listed);
  if (service.level === 0) return ready.length > 0 ? sizedFile(source, ready[ready.length - 1]) : null;
  const whole = sizeOf({ width: service.width ?? source.width, height: service.height ?? source.height });
  return whole === null ? widthFile(source, frame.width) : sizedFile(source, fitted(whole, service, frame));
}

/** The whole image is one tile at the scale factors that shrink it to a tile's extent, also where no size is listed. */
function readySizes({ sizes, tiles, width, height }: ImageService): Size[] {
  if (sizes.length > 0) return [...sizes];
  if (width === null || height === null) return [];
  return tiles.flatMap((tile) =>
    tile.scaleFactors.map((factor) => ({ width: Math.ceil(width / factor), height: Math.ceil(height / factor) }))
      .filter((size) => size.width <= tile.width && size.height <= tile.height)
  );
}

/** The largest extent in the image's proportions that fits the frame, is no larger than the image and may be requested. */
function fitted(whole: Size, { maxWidth, maxHeight, maxArea }: ImageService, frame: Size): Size {
  const scale = Math.min(
    1,
    Math.max(frame.width / whole.width, frame.height / whole.height),
    (maxWidth ?? Infinity) / whole.width,
    (maxHeight ?? Infinity) / whole.height,
    Math.sqrt((maxArea ?? Infinity) / (whole.width * whole.height)),
  );
  return { width: Math.max(1, Math.floor(whole.width * scale)), height: Math.max(1, Math.floor(whole.height * scale)) };
}

function sizedFile(source: ServedImage, { width, height }: Size): ImageFile {
  return { href: addressInSize(source, { width, height }), width, height };
}

function widthFile(source: ServedImage, width: number): ImageFile {
  const limited = Math.max(1, Math.floor(Math.min(width, source.service.maxWidth ?? Infinity)));
  return { href: addressInSize(source, { width: limited }), width: limited, height: null };
}

/**
 * The file of an image, to be downloaded: the one that the manifest names, else the largest that the server gives.
 *
 * @returns null without an address
 */
export function wholeImageOf({ service, href, format, width, height }: ImageSource): ImageFile | null {
  if (href !== null) return { href, width, height };
  if (service === null) return null;
  return {
    href: addressInSize({ service, href, format }, "max"),
    width: service.width ?? width,
    height: service.height ?? height,
  };
}

type ServedImage = Pick<ImageSource, "href" | "format"> & { readonly service: ImageService };

/**
 * The address of the whole image in a size, in the canonical form of the service's version.
 *
 * @param requested the largest that the server gives, or an extent; without a height that of the image's proportions
 */
function addressInSize(source: ServedImage, requested: "max" | { width: number; height?: number }): string {
  const { id, version, maxWidth, maxArea } = source.service;
  const quality = version === 1 ? "native" : "default";
  return `${id}/full/${size()}/0/${quality}.${extensionOf(source)}`;

  function size(): string {
    // Version 2.1 has limits together with `max`, which keeps to them; `full` may be larger.
    if (requested === "max") return version === 3 || version === 2 && (maxWidth ?? maxArea) !== null ? "max" : "full";
    return `${requested.width},${version === 3 ? requested.height ?? "" : ""}`;
  }
}

/** `jpg`, unless the manifest names a file of the service with another extension. */
function extensionOf({ service, href, format }: ServedImage): string {
  // A file that is not from the service says nothing about its formats.
  if (href !== null && !href.startsWith(`${service.id}/`)) return "jpg";
  const named = /\.(jpg|png|webp|gif)(?:[?#]|$)/.exec(href ?? "")?.[1];
  return named ?? /^image\/(png|webp)$/.exec(format ?? "")?.[1] ?? "jpg";
}
