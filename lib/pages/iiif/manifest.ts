/**
 * Most bytes of a manifest that are read, enforced by the caller; that of a volume of ten thousand pages has about 8 MB.
 */
export const MAX_MANIFEST_BYTES = 64 * 1024 * 1024;

/** Most canvases that a manifest may have. */
export const MAX_CANVASES = 20_000;

/**
 * A IIIF manifest of Presentation 2 or 3, as the viewer uses it. All strings are plain text in the
 * reader's language, all addresses absolute and of http or https. Canvases are named by their index.
 */
export interface Manifest {
  readonly label: string;
  readonly summary: string | null;
  readonly metadata: readonly MetadataEntry[];
  /** A licence or a rights statement: its address, or a sentence. */
  readonly rights: string | null;
  /** Must be shown wherever the manifest is shown. */
  readonly requiredStatement: MetadataEntry | null;
  readonly providers: readonly Provider[];
  readonly homepages: readonly Reference[];
  /** Other forms of the whole, such as a PDF file. */
  readonly renderings: readonly Reference[];
  readonly seeAlso: readonly Reference[];
  /** A date as the manifest writes it. */
  readonly navDate: string | null;
  readonly viewingDirection: ViewingDirection;
  readonly behaviors: readonly Behavior[];
  readonly start: number | null;
  /** The table of contents. */
  readonly ranges: readonly Range[];
  /** Orders of the canvases beside that of `canvases`. */
  readonly alternativeOrders: readonly CanvasOrder[];
  /** One for each entry of the manifest, also for unreadable ones, so that indices are those of the manifest. */
  readonly canvases: readonly Canvas[];
}

export type ViewingDirection = "left-to-right" | "right-to-left" | "top-to-bottom" | "bottom-to-top";

/** The behaviors that the viewer acts upon. */
export const BEHAVIORS = ["paged", "continuous", "facing-pages", "non-paged", "no-nav", "sequence", "top"] as const;
export type Behavior = typeof BEHAVIORS[number];

/** A label and its values, each a separate line or paragraph. */
export interface MetadataEntry {
  readonly label: string;
  readonly values: readonly string[];
}

export interface Reference {
  /** null: the manifest has words in its place. */
  readonly href: string | null;
  /** Never empty: without a label, the last part of the address. */
  readonly label: string;
  /** A media type. */
  readonly format: string | null;
  /** The schema of the linked resource. */
  readonly profile: string | null;
}

/** A link to a file. */
export interface Link extends Reference {
  readonly href: string;
}

export interface Provider {
  readonly label: string;
  readonly homepages: readonly Reference[];
  readonly logos: readonly ImageSource[];
}

/** An entry in the table of contents. */
export interface Range {
  readonly label: string;
  /** The canvases named by the range itself, not those of its children; in the range's order. */
  readonly canvases: readonly number[];
  readonly children: readonly Range[];
}

export interface CanvasOrder {
  readonly label: string;
  readonly canvases: readonly number[];
}

export interface Canvas {
  readonly id: string;
  /** Whether the manifest's entry is a canvas. Of one that is not, only the place among the canvases is known. */
  readonly isReadable: boolean;
  /** Never empty: without a label, the number from 1. */
  readonly label: string;
  readonly summary: string | null;
  /** Extent in the canvas's own units, not in pixels; null where the manifest has none. */
  readonly width: number | null;
  readonly height: number | null;
  readonly behaviors: readonly Behavior[];
  /** In painting order, the bottom one first. */
  readonly images: readonly PaintedImage[];
  /** Other painted content, which a viewer of images cannot show. */
  readonly otherMedia: readonly OtherMedia[];
  readonly thumbnails: readonly ImageSource[];
  /** Shown before the canvas's own content is there. */
  readonly placeholder: Canvas | null;
  /** Shown beside the content, such as the cover of a recording. */
  readonly accompanying: Canvas | null;
  /** ALTO files with the text of the canvas. */
  readonly altoSources: readonly Link[];
  readonly metadata: readonly MetadataEntry[];
  readonly requiredStatement: MetadataEntry | null;
  readonly homepages: readonly Reference[];
  readonly renderings: readonly Reference[];
  readonly seeAlso: readonly Reference[];
}

/** Painted content other than still images. */
export type OtherMedia = "audio" | "video" | "3D" | "text" | "unknown";

/** A rectangle. The unit is that of what it is in. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** One painting of an image on a canvas. */
export interface PaintedImage {
  /** Images to choose from; the first is the default. Never empty. */
  readonly choices: readonly ImageChoice[];
  /** Place on the canvas in its units; null for the whole canvas. */
  readonly target: Box | null;
}

export interface ImageChoice {
  readonly label: string | null;
  readonly source: ImageSource;
  /** The part of the source that is shown, in pixels of the source; null for all of it. */
  readonly region: Box | null;
  /** Degrees clockwise, 0 to less than 360. */
  readonly rotation: number;
  /** Mirrored at the vertical axis before it is rotated. */
  readonly isMirrored: boolean;
}

export interface ImageSource {
  /** Address of one image file; null where there is only a service. */
  readonly href: string | null;
  /** A media type, as the manifest states it. */
  readonly format: string | null;
  /** Pixels. */
  readonly width: number | null;
  readonly height: number | null;
  readonly service: ImageService | null;
}

export interface ImageService {
  /** Base address, without `/info.json` and without a slash at its end. */
  readonly id: string;
  readonly version: 1 | 2 | 3;
  /** Compliance level; null where the manifest does not state it. */
  readonly level: 0 | 1 | 2 | null;
  /** Pixels of the whole image. */
  readonly width: number | null;
  readonly height: number | null;
  /** Sizes of the whole image that the server has ready, as it lists them. */
  readonly sizes: readonly Size[];
  readonly tiles: readonly TileSet[];
  /** Limits of the sizes that may be requested. */
  readonly maxWidth: number | null;
  readonly maxHeight: number | null;
  readonly maxArea: number | null;
}

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface TileSet extends Size {
  readonly scaleFactors: readonly number[];
}

type Shown = Pick<Canvas, "images" | "accompanying" | "placeholder">;

/**
 * The placeholder of a canvas without an image: its accompanying canvas, such as the cover of a recording, else its
 * placeholder canvas.
 *
 * @returns null for a canvas with an image, and for one without a placeholder
 */
export function standInOf({ images, accompanying, placeholder }: Shown): Canvas | null {
  if (images.length > 0) return null;
  return [accompanying, placeholder].find((canvas) => canvas !== null && canvas.images.length > 0) ?? null;
}

/** Canvases that are shown side by side, from left to right (or from top to bottom). */
export type Spread = readonly number[];

/** Whether a manifest requests its pages side by side at first. A strip without gaps is shown one at a time. */
export function isPaged({ behaviors }: Pick<Manifest, "behaviors">): boolean {
  return behaviors.includes("paged") && !behaviors.includes("continuous");
}

/**
 * The openings of a bound volume. The first page stands alone, then pages pair; a canvas that is a whole opening, or no
 * page of the binding, stands alone. A page that such a canvas parts from its neighbour pairs with it nevertheless.
 *
 * @param order indices into `canvases` in reading order
 */
export function spreadsOf(
  canvases: readonly Pick<Canvas, "behaviors">[],
  order: readonly number[],
  isRightToLeft: boolean,
): readonly Spread[] {
  const spreads: Spread[] = [];
  let left: number | null = null;
  let isFirst = true;
  /** Canvases that are no pages, met while a page waits for its neighbour. */
  let between: number[] = [];
  const end = (spread: Spread) => {
    if (spread.length > 0) spreads.push(isRightToLeft ? spread.toReversed() : spread);
    spreads.push(...between.map((at) => [at]));
    between = [];
    left = null;
  };
  for (const at of order) {
    const behaviors = canvases[at].behaviors;
    if (behaviors.includes("non-paged")) {
      if (left === null) spreads.push([at]);
      else between.push(at);
    } else if (behaviors.includes("facing-pages")) {
      if (left !== null) end([left]);
      spreads.push([at]);
      isFirst = false;
    } else if (left !== null) {
      end([left, at]);
    } else if (isFirst) {
      spreads.push([at]);
      isFirst = false;
    } else {
      left = at;
    }
  }
  if (left !== null) end([left]);
  return spreads;
}
