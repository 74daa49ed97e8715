// The names under which a browser stores what a page has to know before it is painted (`localStorage`).

/** The reader's choice of a theme. */
export const THEME_KEY = "stackroom.theme";

/** That the reader has closed the introduction. */
export const INTRODUCED_KEY = "stackroom.introduced";

/**
 * The heights of open cards, as JSON of {@link StoredHeights}: their space is reserved before anything is painted, so that a
 * card that is opened again moves nothing.
 */
export const HEIGHTS_KEY = "stackroom.open-cards";

/** Heights of open cards, px by the campaigns' keys. They hold for one width of the window alone. */
export interface StoredHeights {
  readonly width: number;
  readonly heights: Readonly<Record<string, number>>;
}
