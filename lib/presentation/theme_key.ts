/** Where a browser keeps the reader's choice. */
export const THEME_KEY = "stackroom.theme";
