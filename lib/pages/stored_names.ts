// The names under which a browser stores what a page has to know before it is painted (`localStorage`).

/** The reader's choice of a theme. */
export const THEME_KEY = "stackroom.theme";

/** That the reader has closed the introduction. */
export const INTRODUCED_KEY = "stackroom.introduced";

/**
 * The heights of open cards, as JSON of {@link StoredHeights}: their space is reserved before the first paint, so that
 * reopening a card moves nothing.
 */
export const HEIGHTS_KEY = "stackroom.open-cards";

/** Heights of open cards, px by the campaigns' keys. Valid for one width of the window only. */
export interface StoredHeights {
  readonly width: number;
  readonly heights: Readonly<Record<string, number>>;
}
