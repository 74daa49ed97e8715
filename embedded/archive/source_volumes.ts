/** Changes when the same seed gives other campaigns, texts or documents than before, or a drawn page changes. */
export const SAMPLES_EDITION = 6;

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
  { id: "sample-no-sizes", title: "Sidor utan mått", pages: 6, presentation: 3, sample: "no-sizes" },
  { id: "sample-not-a-manifest", title: "Inte ett manifest", pages: 1, presentation: 3, sample: "not-a-manifest" },
  { id: "sample-cyclic-range", title: "Avsnitt i ring", pages: 6, presentation: 3, sample: "cyclic-range" },
];

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

export function pageImageUrl(archive: string, volume: string, page: number): string {
  return `${archive}/image/${encodeURIComponent(volume)}/${pageName(page)}.png`;
}

export function thumbnailUrl(archive: string, volume: string, page: number): string {
  return `${archive}/thumbnail/${encodeURIComponent(volume)}/${pageName(page)}.png`;
}

export function logoUrl(archive: string): string {
  return `${archive}/logo.png`;
}
