import { between, seededRandom } from "./seeded_random.ts";

/** Every page has this size, in pixels. */
export const PAGE_WIDTH = 1600;
export const PAGE_HEIGHT = 2208;
export const THUMBNAIL = { width: 200, height: 276 };
/** The size of the logo, in pixels. */
export const LOGO = { width: 90, height: 45 };

/** The pages of `pages/` are two books, each of one year and on one paper. Even, so that right pages stay right pages. */
const PAGES_OF_A_BOOK = 14;
const DRAWN_PAGES = 2 * PAGES_OF_A_BOOK;
const FOLDER = new URL("./pages/", import.meta.url);

/** The number of the drawn page, from 1, that a volume shows as its page `page`; volumes share the drawn pages. */
export function drawnPage(volume: string, page: number): number {
  // An even start: the first page is a right one, with its binding on the left.
  const start = 2 * between(seededRandom("pages", volume), 0, DRAWN_PAGES / 2 - 1);
  const place = start % PAGES_OF_A_BOOK;
  return start - place + (place + page - 1) % PAGES_OF_A_BOOK + 1;
}

/** The file of a drawn page's image or thumbnail. */
export function imageFile(number: number, kind: "image" | "thumbnail"): URL {
  return new URL(`${fileName(number)}${kind === "image" ? "" : "_small"}.png`, FOLDER);
}

export const LOGO_FILE = new URL("logo.png", FOLDER);

/** The ALTO file of a drawn page, in pixels of its image. */
export function drawnAlto(number: number): string {
  return Deno.readTextFileSync(new URL(`${fileName(number)}.xml`, FOLDER));
}

function fileName(number: number): string {
  return String(number).padStart(2, "0");
}
