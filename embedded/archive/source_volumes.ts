import type { ImageApi } from "./image_request.ts";
import { PAGE_HEIGHT, PAGE_WIDTH } from "./page_layout.ts";

/** Changes when the same seed gives other pages, texts or documents than before. */
export const SAMPLES_EDITION = 5;

/** What a sample manifest shows beside a plain volume, for those who try a viewer. */
type ManifestSample =
  /** Served without CORS headers, as are its images. */
  | "no-cors"
  /** Bound at the right, read from right to left. */
  | "right-to-left"
  /** Each canvas has several images to choose from. */
  | "choices"
  /** The pages in two orders, which only version 2.1 has. */
  | "sequences"
  /** Images without an image service. */
  | "plain-images"
  /** Canvases and images without width and height. */
  | "no-sizes"
  /** A JSON document that is not a manifest. */
  | "not-a-manifest"
  /** Two ranges that contain each other. */
  | "cyclic-range";

/** One digitised volume of the sample archive. */
export interface SourceVolume {
  /** Unique in the archive; letters, digits, `.`, `_` and `-`. */
  readonly id: string;
  readonly title: string;
  /** Number of pages, named `0001`, `0002`, … */
  readonly pages: number;
  /** Which IIIF Presentation API its manifest speaks. */
  readonly presentation: 2 | 3;
  readonly sample?: ManifestSample;
}

/** Volumes beside those of the campaigns, each with a manifest of another kind. */
export const SAMPLE_VOLUMES: readonly SourceVolume[] = [
  { id: "sample-2000-pages", title: "Domböcker i urval", pages: 2000, presentation: 3 },
  { id: "sample-no-cors", title: "Utan CORS", pages: 6, presentation: 3, sample: "no-cors" },
  { id: "sample-right-to-left", title: "Från höger till vänster", pages: 12, presentation: 3, sample: "right-to-left" },
  { id: "sample-choices", title: "Tre avbildningar av varje sida", pages: 6, presentation: 3, sample: "choices" },
  { id: "sample-sequences", title: "Två ordningar", pages: 8, presentation: 2, sample: "sequences" },
  { id: "sample-plain-images", title: "Bilder utan bildtjänst", pages: 6, presentation: 3, sample: "plain-images" },
  { id: "sample-plain-images-2", title: "Bilder utan bildtjänst", pages: 6, presentation: 2, sample: "plain-images" },
  { id: "sample-no-sizes", title: "Sidor utan mått", pages: 6, presentation: 3, sample: "no-sizes" },
  { id: "sample-not-a-manifest", title: "Inte ett manifest", pages: 1, presentation: 3, sample: "not-a-manifest" },
  { id: "sample-cyclic-range", title: "Avsnitt i ring", pages: 6, presentation: 3, sample: "cyclic-range" },
];

/** By what the width and height of a page are divided in the images that `info.json` lists, whole size first. */
export const IMAGE_DIVISORS: readonly number[] = [1, 2, 4, 8];

export function imageSize(divisor: number): { width: number; height: number } {
  return { width: PAGE_WIDTH / divisor, height: PAGE_HEIGHT / divisor };
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
export function imageServiceUrl(archive: string, volume: string, page: number, api: ImageApi = 3): string {
  return `${archive}/${api === 3 ? "image" : "image2"}/${encodeURIComponent(volume)}/${pageName(page)}`;
}

/** The image of a page at full size, which is named differently in 3.0 and 2.1 of the Image API. */
export function pageImageUrl(archive: string, volume: string, page: number, api: ImageApi = 3): string {
  return `${imageServiceUrl(archive, volume, page, api)}/full/${api === 3 ? "max" : "full"}/0/default.png`;
}

/** The smallest of the images that `info.json` lists. */
export const THUMBNAIL = imageSize(IMAGE_DIVISORS[IMAGE_DIVISORS.length - 1]);

export function thumbnailUrl(archive: string, volume: string, page: number, api: ImageApi = 3): string {
  const size = api === 3 ? `${THUMBNAIL.width},${THUMBNAIL.height}` : `${THUMBNAIL.width},`;
  return `${imageServiceUrl(archive, volume, page, api)}/full/${size}/0/default.png`;
}
