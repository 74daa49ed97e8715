/** The paper of a volume: page images are palette images, and the tint decides what its indexes look like. */
export type Tint = 0 | 1 | 2;
export const TINTS: readonly Tint[] = [0, 1, 2];

/** A run of palette indexes from the paper's colour to that of a full stroke. */
export interface Ramp {
  readonly first: number;
  readonly levels: number;
}

/** The bare paper, from its darkest stain to its lightest spot. */
export const PAPER: Ramp = { first: 0, levels: 16 };
/** The ink of the text, and of nothing else. */
export const INK: Ramp = { first: 16, levels: 8 };
/** Pencil, ruled lines and drawings. */
export const SEPIA: Ramp = { first: 26, levels: 8 };
/** Wax. */
export const RED: Ramp = { first: 34, levels: 8 };
/** Stamps and water. */
export const BLUE: Ramp = { first: 42, levels: 8 };
/** The scanner's bed around the page. */
export const BED: Ramp = { first: 50, levels: 2 };

const COLOURS = 52;

/** A colour as red, green and blue, 0..255 each. */
type Colour = readonly [number, number, number];

interface Paper {
  readonly dark: Colour;
  readonly light: Colour;
  readonly ink: Colour;
}

const PAPERS: readonly Paper[] = [
  { dark: [164, 139, 98], light: [243, 234, 210], ink: [44, 33, 27] },
  { dark: [150, 143, 124], light: [238, 236, 226], ink: [33, 34, 40] },
  { dark: [150, 116, 74], light: [232, 214, 178], ink: [58, 38, 24] },
];
const SEPIA_STROKE: Colour = [128, 92, 62];
const RED_STROKE: Colour = [140, 26, 28];
const BLUE_STROKE: Colour = [52, 62, 138];
const BED_COLOURS: readonly Colour[] = [[38, 36, 35], [54, 51, 48]];

/** What of an image's colour its palette shows, by the names of the IIIF Image API. */
export type Quality = "color" | "gray" | "bitonal";

/** The palette of a tint as the `PLTE` chunk of a PNG has it: red, green and blue of each index. */
export function paletteOf(tint: Tint, quality: Quality): Uint8Array {
  const colours = COLOUR_PALETTES[tint];
  if (quality === "color") return colours;
  const palette = new Uint8Array(colours.length);
  for (let at = 0; at < palette.length; at += 3) {
    const grey = luminance(colours[at], colours[at + 1], colours[at + 2]);
    palette.fill(quality === "gray" ? Math.round(grey) : grey < BITONAL_THRESHOLD ? 0 : 255, at, at + 3);
  }
  return palette;
}

/** The index nearest to a colour, by its upper five bits of red, green and blue: `r << 10 | g << 5 | b`. */
export function nearestIndexes(tint: Tint): Uint8Array {
  return NEAREST[tint] ??= findNearest(COLOUR_PALETTES[tint]);
}

const BITONAL_THRESHOLD = 112;
const COLOUR_PALETTES: readonly Uint8Array[] = PAPERS.map(colourPalette);
const NEAREST: Uint8Array[] = [];

function colourPalette({ dark, light, ink }: Paper): Uint8Array {
  const palette = new Uint8Array(COLOURS * 3);
  const fill = ({ first, levels }: Ramp, from: Colour, to: Colour) => {
    for (let level = 0; level < levels; level++) {
      const share = level / (levels - 1);
      for (let part = 0; part < 3; part++) {
        palette[(first + level) * 3 + part] = Math.round(from[part] + (to[part] - from[part]) * share);
      }
    }
  };
  fill(PAPER, dark, light);
  const paper = mixed(dark, light, 0.85);
  fill(INK, mixed(paper, ink, 0.1), ink);
  fill(SEPIA, mixed(paper, SEPIA_STROKE, 0.12), SEPIA_STROKE);
  fill(RED, mixed(paper, RED_STROKE, 0.12), RED_STROKE);
  fill(BLUE, mixed(paper, BLUE_STROKE, 0.12), BLUE_STROKE);
  fill(BED, BED_COLOURS[0], BED_COLOURS[1]);
  return palette;
}

function mixed(from: Colour, to: Colour, share: number): Colour {
  const part = (at: 0 | 1 | 2) => from[at] + (to[at] - from[at]) * share;
  return [part(0), part(1), part(2)];
}

function luminance(red: number, green: number, blue: number): number {
  return 0.299 * red + 0.587 * green + 0.114 * blue;
}

function findNearest(palette: Uint8Array): Uint8Array {
  const nearest = new Uint8Array(1 << 15);
  for (let key = 0; key < nearest.length; key++) {
    const red = (key >> 10 << 3) + 4;
    const green = ((key >> 5 & 31) << 3) + 4;
    const blue = ((key & 31) << 3) + 4;
    let least = Infinity;
    for (let index = 0; index < COLOURS; index++) {
      const dr = palette[index * 3] - red;
      const dg = palette[index * 3 + 1] - green;
      const db = palette[index * 3 + 2] - blue;
      const distance = dr * dr + dg * dg + db * db;
      if (distance >= least) continue;
      least = distance;
      nearest[key] = index;
    }
  }
  return nearest;
}
