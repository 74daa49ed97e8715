/**
 * Draws the pages of the embedded archive: images, thumbnails and ALTO files of two books, and the logo. Run once:
 * `deno run -A tools/draw_archive_pages.ts`.
 */
import { scaled } from "@/embedded/archive/image_scaling.ts";
import type { IndexedImage } from "@/embedded/archive/page_canvas.ts";
import { drawPage } from "@/embedded/archive/page_image.ts";
import { layoutPage, PAGE_HEIGHT, PAGE_WIDTH } from "@/embedded/archive/page_layout.ts";
import { paletteOf, type Tint } from "@/embedded/archive/palette.ts";
import { palettePng } from "@/embedded/archive/png.ts";
import { altoXml } from "@/embedded/cluster/alto.ts";

const FOLDER = new URL("../embedded/archive/pages/", import.meta.url);
const SEED = 1;
/** The volumes whose pages are drawn, and the tint of their paper. */
const BOOKS: readonly [string, Tint][] = [["book-16", 0], ["book-28", 2]];
const PAGES_OF_A_BOOK = 14;
const THUMBNAIL = { width: 200, height: 276 };

Deno.mkdirSync(FOLDER, { recursive: true });
BOOKS.forEach(([book, tint], index) => {
  for (let page = 1; page <= PAGES_OF_A_BOOK; page++) {
    const layout = layoutPage(SEED, book, page);
    const texture = `${SEED}/${book}/${page}`;
    const name = String(index * PAGES_OF_A_BOOK + page).padStart(2, "0");
    const whole = drawPage(layout, texture, PAGE_WIDTH, PAGE_HEIGHT);
    write(`${name}.png`, png(whole, tint));
    const { width, height } = THUMBNAIL;
    write(`${name}_small.png`, png(drawPage(layout, texture, width, height), tint));
    write(`${name}.xml`, new TextEncoder().encode(altoXml(layout, name, page, null)));
    if (index === 0 && page === 1) {
      write("logo.png", png(scaled(whole, { x: 600, y: 1933, width: 400, height: 200 }, 90, 45, tint), tint));
    }
    console.log(name, layout.kind);
  }
});

function png({ width, height, pixels }: IndexedImage, tint: Tint): Uint8Array {
  return palettePng(width, height, pixels, paletteOf(tint, "color"));
}

function write(name: string, bytes: Uint8Array): void {
  Deno.writeFileSync(new URL(name, FOLDER), bytes);
}
