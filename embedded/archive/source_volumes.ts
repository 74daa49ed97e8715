import { PAGE_HEIGHT, PAGE_WIDTH } from "./page_layout.ts";

/** One digitised volume of the sample archive. */
export interface SourceVolume {
  /** Unique in the archive; letters, digits, `.`, `_` and `-`. */
  readonly id: string;
  readonly title: string;
  /** Number of pages, named `0001`, `0002`, … */
  readonly pages: number;
  /** Which IIIF Presentation API its manifest speaks. */
  readonly presentation: 2 | 3;
}

/** The image widths and heights a page is served in, whole size first: what `info.json` and thumbnails name. */
export const IMAGE_DIVISORS = [1, 2, 4, 9] as const;

export function imageSize(divisor: number): { width: number; height: number } {
  return { width: Math.floor(PAGE_WIDTH / divisor), height: Math.floor(PAGE_HEIGHT / divisor) };
}

/** The name of a page counted from 1. */
export function pageName(page: number): string {
  return String(page).padStart(4, "0");
}

export function sourceManifestUrl(archive: string, volume: string): string {
  return `${archive}/iiif/${encodeURIComponent(volume)}/manifest.json`;
}

export function canvasUrl(archive: string, volume: string, page: number): string {
  return `${archive}/iiif/${encodeURIComponent(volume)}/canvas/${pageName(page)}`;
}

/** The IIIF image service of a page; append `/info.json` or `/full/max/0/default.png`. */
export function imageServiceUrl(archive: string, volume: string, page: number): string {
  return `${archive}/image/${encodeURIComponent(volume)}/${pageName(page)}`;
}

export function pageImageUrl(archive: string, volume: string, page: number): string {
  return `${imageServiceUrl(archive, volume, page)}/full/max/0/default.png`;
}

export function thumbnailUrl(archive: string, volume: string, page: number): string {
  return `${imageServiceUrl(archive, volume, page)}/full/${imageSize(9).width},/0/default.png`;
}
