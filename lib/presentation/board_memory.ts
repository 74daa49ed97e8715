/** Where a browser stores that the reader has closed the introduction. */
export const INTRODUCED_KEY = "stackroom.introduced";

/**
 * Where a browser stores the heights of open cards, as JSON of {@link StoredHeights}: their space is reserved before anything
 * is painted, so that a card that is opened again moves nothing.
 */
export const HEIGHTS_KEY = "stackroom.open-cards";

/** Heights of open cards, px by the campaigns' keys. They hold for one width of the window alone. */
export interface StoredHeights {
  readonly width: number;
  readonly heights: Readonly<Record<string, number>>;
}
