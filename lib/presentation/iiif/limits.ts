/** Most entries of the lists of a manifest that are read; what is beyond them is left out. */
export const LIMITS = {
  sequences: 50,
  ranges: 20_000,
  /** Of all ranges together. */
  rangeEntries: 200_000,
  /** Ranges within ranges. */
  rangeDepth: 32,
  /** Painting annotations of a canvas. */
  paintings: 200,
  /** Bodies of an annotation, and options of a choice. */
  choices: 100,
  /** Selectors of one part of an image or a canvas. */
  selectors: 10,
  annotationPages: 50,
  /** Of an annotation page. */
  annotations: 10_000,
  /** Bodies of an annotation that is not painted. */
  supplements: 10,
  metadata: 200,
  /** Values of a text. */
  values: 100,
  links: 100,
  providers: 20,
  /** Thumbnails and logos. */
  images: 20,
  /** Words such as behaviors and motivations. */
  words: 20,
} as const;
