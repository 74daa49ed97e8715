import type { Rotation } from "./image_rotation.ts";
import type { Region } from "./image_scaling.ts";
import { PAGE_HEIGHT, PAGE_WIDTH } from "./page_layout.ts";
import type { Quality } from "./palette.ts";

/** The versions of the IIIF Image API: 3.0 and 2.1. */
export type ImageApi = 3 | 2;

/** The largest image that a request may ask for, in pixels. */
export const MAX_IMAGE_WIDTH = 2400;
export const MAX_IMAGE_HEIGHT = 3312;
export const MAX_IMAGE_AREA = 4_000_000;

/** The format of an image file, by its extension. */
export type ImageFormat = "png" | "jpg";

/** An image of a page: which region of it, how large, how it is turned, in which colours, and as which file. */
export interface ImageRequest {
  readonly region: Region;
  /** Before the image is turned. */
  readonly width: number;
  readonly height: number;
  readonly rotation: Rotation;
  readonly quality: Quality;
  readonly format: ImageFormat;
  /** The canonical form of the request: region, size, rotation and file. */
  readonly canonical: string;
}

/** The parameters of an image are not those of the IIIF Image API, or ask for what this service does not offer. */
export class BadImageRequest extends Error {
  override name = "BadImageRequest";
}

/**
 * Reads the four parts of an image's path: region, size, rotation, and quality with format.
 *
 * @throws {BadImageRequest} which the Image API answers with 400
 */
export function readImageRequest(api: ImageApi, [region, size, rotation, file]: readonly string[]): ImageRequest {
  const area = readRegion(region);
  const dimensions = readSize(api, size, area);
  const turn = readRotation(rotation);
  const [name, format, ...more] = file.split(".");
  const quality = QUALITIES[name];
  if (!Object.hasOwn(QUALITIES, name)) {
    throw new BadImageRequest("the quality is not one of default, color, gray and bitonal");
  }
  if ((format !== "png" && format !== "jpg") || more.length > 0) {
    throw new BadImageRequest("images are served in the formats png and jpg only");
  }
  const { width, height } = dimensions;
  const isFull = area.width === PAGE_WIDTH && area.height === PAGE_HEIGHT;
  const place = isFull ? "full" : `${area.x},${area.y},${area.width},${area.height}`;
  const canonicalName = quality === "color" ? "default" : name;
  const canonical = `${place}/${canonicalSize(api, area, width, height)}/${turn}/${canonicalName}.${format}`;
  return { region: area, width, height, rotation: turn, quality, format, canonical };
}

const QUALITIES: Readonly<Record<string, Quality>> = {
  default: "color",
  color: "color",
  gray: "gray",
  bitonal: "bitonal",
};

const ROTATIONS: ReadonlyMap<number, Rotation> = new Map([[0, 0], [90, 90], [180, 180], [270, 270], [360, 0]]);

function readRotation(text: string): Rotation {
  if (!/^!?\d{1,3}(\.\d{1,10})?$/.test(text)) throw new BadImageRequest("the rotation is not a number of degrees");
  const rotation = ROTATIONS.get(Number(text));
  if (rotation === undefined) {
    throw new BadImageRequest("images are served with a rotation of 0, 90, 180 or 270 only, not mirrored");
  }
  return rotation;
}

/** At most so many digits: what is longer is no size of an image. */
const INTEGER = /^\d{1,9}$/;
const DECIMAL = /^(?:\d{1,9}(?:\.\d{1,10})?|\.\d{1,10})$/;

function readRegion(text: string): Region {
  if (text === "full") return { x: 0, y: 0, width: PAGE_WIDTH, height: PAGE_HEIGHT };
  if (text === "square") {
    const side = Math.min(PAGE_WIDTH, PAGE_HEIGHT);
    return { x: (PAGE_WIDTH - side) >> 1, y: (PAGE_HEIGHT - side) >> 1, width: side, height: side };
  }
  const isPercent = text.startsWith("pct:");
  const parts = (isPercent ? text.slice(4) : text).split(",");
  if (parts.length !== 4 || !parts.every((part) => (isPercent ? DECIMAL : INTEGER).test(part))) {
    throw new BadImageRequest("the region is not full, square, x,y,w,h or pct:x,y,w,h");
  }
  const [left, top, across, down] = parts.map(Number);
  const x = isPercent ? Math.round(left * PAGE_WIDTH / 100) : left;
  const y = isPercent ? Math.round(top * PAGE_HEIGHT / 100) : top;
  const width = Math.min(PAGE_WIDTH - x, isPercent ? Math.round(across * PAGE_WIDTH / 100) : across);
  const height = Math.min(PAGE_HEIGHT - y, isPercent ? Math.round(down * PAGE_HEIGHT / 100) : down);
  if (width <= 0 || height <= 0) throw new BadImageRequest("the region holds no pixel of the image");
  return { x, y, width, height };
}

function readSize(api: ImageApi, text: string, region: Region): { width: number; height: number } {
  const hasCaret = api === 3 && text.startsWith("^");
  const size = requestedSize(api, hasCaret ? text.slice(1) : text, region, hasCaret || api === 2);
  const { width, height } = size;
  // The Image API 2.1 has no sign for a larger image: any size may be one.
  if (api === 3 && !hasCaret && (width > region.width || height > region.height)) {
    throw new BadImageRequest("the size is larger than the region: a larger image needs ^");
  }
  if (width < 1 || height < 1) throw new BadImageRequest("the size holds no pixel");
  if (width > MAX_IMAGE_WIDTH || height > MAX_IMAGE_HEIGHT || width * height > MAX_IMAGE_AREA) {
    throw new BadImageRequest("the size is beyond maxWidth, maxHeight or maxArea");
  }
  return size;
}

function requestedSize(api: ImageApi, text: string, region: Region, mayGrow: boolean) {
  if (text === "max") return api === 3 && mayGrow ? largest(region) : { width: region.width, height: region.height };
  if (text === "full" && api === 2) return { width: region.width, height: region.height };
  if (text.startsWith("pct:") && DECIMAL.test(text.slice(4))) return resized(region, Number(text.slice(4)) / 100);
  const [, isConfined, across, down] = /^(!?)(\d{0,9}),(\d{0,9})$/.exec(text) ?? [];
  if (across === undefined || (across === "" && down === "") || (isConfined && (across === "" || down === ""))) {
    throw new BadImageRequest(`the size is not ${api === 2 ? "full, " : ""}max, w, ,h pct:n w,h or !w,h`);
  }
  if (isConfined) {
    const fit = Math.min(Number(across) / region.width, Number(down) / region.height);
    const limit = mayGrow ? largestScale(region) : 1;
    return resized(region, Math.min(fit, limit));
  }
  if (down === "") return { width: Number(across), height: Math.round(region.height * Number(across) / region.width) };
  if (across === "") return { width: Math.round(region.width * Number(down) / region.height), height: Number(down) };
  return { width: Number(across), height: Number(down) };
}

function resized(region: Region, scale: number): { width: number; height: number } {
  return { width: Math.round(region.width * scale), height: Math.round(region.height * scale) };
}

/** The largest image of a region within the limits. */
function largest(region: Region): { width: number; height: number } {
  const scale = largestScale(region);
  return { width: Math.floor(region.width * scale), height: Math.floor(region.height * scale) };
}

function largestScale({ width, height }: Region): number {
  return Math.min(MAX_IMAGE_WIDTH / width, MAX_IMAGE_HEIGHT / height, Math.sqrt(MAX_IMAGE_AREA / (width * height)));
}

function canonicalSize(api: ImageApi, region: Region, width: number, height: number): string {
  const isWhole = width === region.width && height === region.height;
  if (api === 2) {
    if (isWhole) return "full";
    return height === Math.round(region.height * width / region.width) ? `${width},` : `${width},${height}`;
  }
  if (isWhole) return "max";
  const larger = largest(region);
  if (width === larger.width && height === larger.height) return "^max";
  return `${width > region.width || height > region.height ? "^" : ""}${width},${height}`;
}
