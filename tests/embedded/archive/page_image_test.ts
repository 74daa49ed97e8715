import assert from "node:assert/strict";
import { glyph, hasGlyph } from "@/embedded/archive/glyphs.ts";
import { rotated } from "@/embedded/archive/image_rotation.ts";
import { scaled } from "@/embedded/archive/image_scaling.ts";
import { drawPage } from "@/embedded/archive/page_image.ts";
import { type Box, layoutPage, linesOf, PAGE_HEIGHT, PAGE_WIDTH } from "@/embedded/archive/page_layout.ts";
import { PageRenderer } from "@/embedded/archive/page_renderer.ts";
import { INK, paletteOf, PAPER, TINTS } from "@/embedded/archive/palette.ts";
import { decodedPng } from "./decoded_png.ts";

const PAGES = Array.from({ length: 40 }, (_, index) => layoutPage(3, "SE-1", index + 1));

const UPRIGHT = { seed: 3, volume: "SE-1", rotation: 0, format: "png" } as const;

/** How far the box of a word may reach beyond its ink, in pixels: the hand does not always reach as far as it can. */
const SLACK = 4;

Deno.test("page: every line lies on the page, its words in it, without overlap", () => {
  for (const { width, height, blocks } of PAGES) {
    for (const block of blocks) {
      block.lines.forEach((line, index) => {
        assert.ok(contains({ x: 0, y: 0, width, height }, line) && contains(block, line));
        if (index > 0) assert.ok(line.y >= block.lines[index - 1].y + block.lines[index - 1].height);
        assert.equal(line.words.map(({ text }) => text).join(" "), line.text);
        line.words.forEach((word, at) => {
          assert.ok(contains(line, word));
          if (at > 0) assert.ok(word.x >= line.words[at - 1].x + line.words[at - 1].width);
          if (word.hyphen) assert.ok(contains(line, word.hyphen) && word.hyphen.x > word.x);
          const { confidence } = word;
          assert.ok(confidence === null || (confidence > 0 && confidence < 1));
        });
      });
    }
  }
});

Deno.test("page: the samples show columns, tables, maps, divided words and lines without confidence", () => {
  assert.deepEqual(new Set(PAGES.map(({ kind }) => kind)), new Set(["text", "columns", "table", "map"]));
  const columns = PAGES.find(({ kind }) => kind === "columns");
  assert.ok(columns && columns.blocks.length === 3);
  assert.ok(columns.blocks[1].x + columns.blocks[1].width < columns.blocks[2].x);
  const lines = PAGES.flatMap(linesOf);
  assert.ok(lines.some(({ words }) => words.every(({ confidence }) => confidence === null)));
  assert.ok(lines.some(({ words }) => words.every(({ confidence }) => confidence !== null)));
  const words = lines.flatMap(({ words }) => words);
  const first = words.findIndex(({ divided }) => divided?.part === 1);
  const [begin, end] = words.slice(first);
  assert.equal(begin.text + end.text, begin.divided?.whole);
  assert.deepEqual(end.divided, { whole: begin.divided?.whole, part: 2 });
  assert.ok(begin.hyphen && !end.hyphen);
});

Deno.test("page: every character of the texts is in the font", () => {
  for (const { text } of PAGES.flatMap(linesOf)) {
    for (const character of text) assert.ok(hasGlyph(character), character);
  }
  for (let code = 0x20; code < 0x7f; code++) assert.ok(hasGlyph(String.fromCharCode(code)), String.fromCharCode(code));
  const letters = [..."abcdefghijklmnopqrstuvwxyzåäöéABCDEFGHIJKLMNOPQRSTUVWXYZÅÄÖÉ0123456789"];
  assert.equal(new Set(letters.map((letter) => glyph(letter).join())).size, letters.length);
});

Deno.test("page: ink fills the boxes of the words to their edges, and none lies in the gaps between them", () => {
  for (const kind of ["text", "columns", "table", "map"]) {
    const layout = PAGES.find((page) => page.kind === kind && (kind !== "text" || page.hasSeal));
    assert.ok(layout, kind);
    const { width, pixels } = drawPage(layout, "t", PAGE_WIDTH, PAGE_HEIGHT);
    const isInk = (at: number) => pixels[at] >= INK.first && pixels[at] < INK.first + INK.levels;
    const boxes = linesOf(layout).flatMap(({ words }) =>
      words.flatMap((word): Box[] => word.hyphen ? [word, word.hyphen] : [word])
    );
    const inside = new Uint8Array(pixels.length);
    for (const box of boxes) {
      let [left, right, top, bottom] = [Infinity, -1, Infinity, -1];
      for (let y = box.y; y < box.y + box.height; y++) {
        inside.fill(1, y * width + box.x, y * width + box.x + box.width);
        for (let x = box.x; x < box.x + box.width; x++) {
          if (!isInk(y * width + x)) continue;
          left = Math.min(left, x);
          right = Math.max(right, x);
          top = Math.min(top, y);
          bottom = Math.max(bottom, y);
        }
      }
      const gaps = [left - box.x, box.x + box.width - 1 - right, top - box.y, box.y + box.height - 1 - bottom];
      assert.ok(gaps.every((gap) => gap <= SLACK), `${kind} ${JSON.stringify(box)} ${gaps}`);
    }
    assert.ok(pixels.every((_, at) => !isInk(at) || inside[at] === 1), kind);
    assert.ok(pixels.some((index) => index >= INK.first + INK.levels), "rules, stamps and numbers have other colours");
  }
});

Deno.test("page: left and right pages have their binding on different sides", () => {
  const [recto, verso] = [1, 2].map((page) => {
    const { pixels } = drawPage(PAGES[page - 1], "t", 160, 221);
    return (x: number) => pixels[110 * 160 + x];
  });
  const isPaper = (index: number) => index < PAPER.levels;
  assert.ok(isPaper(recto(0)) && !isPaper(recto(159)));
  assert.ok(!isPaper(verso(0)) && isPaper(verso(159)));
});

Deno.test("page: a smaller image has the mean colour of what it stands for, a larger one repeats it", () => {
  const pixels = Uint8Array.of(15, 15, 0, 0, 15, 15, 0, 0);
  const image = { width: 4, height: 2, pixels };
  const half = scaled(image, { x: 0, y: 0, width: 4, height: 2 }, 2, 1, 0);
  assert.deepEqual(half, { width: 2, height: 1, pixels: Uint8Array.of(15, 0) });
  const part = scaled(image, { x: 1, y: 0, width: 2, height: 2 }, 4, 2, 0);
  assert.deepEqual(part.pixels, Uint8Array.of(15, 15, 0, 0, 15, 15, 0, 0));
  const mean = scaled(image, { x: 1, y: 0, width: 2, height: 2 }, 1, 1, 0);
  assert.ok(mean.pixels[0] > 4 && mean.pixels[0] < 11, String(mean.pixels[0]));
});

Deno.test("page: grey and bitonal images differ from the colours in their palette alone", () => {
  const renderer = new PageRenderer();
  const region = { x: 200, y: 200, width: 400, height: 400 };
  const [color, gray, bitonal] = (["color", "gray", "bitonal"] as const).map((quality) =>
    decodedPng(renderer.render({ ...UPRIGHT, page: 1, region, width: 200, height: 200, quality }))
  );
  assert.deepEqual(gray.pixels, color.pixels);
  assert.deepEqual(bitonal.pixels, color.pixels);
  assert.ok(gray.palette.every((part, at) => part === gray.palette[at - at % 3]));
  assert.deepEqual(new Set(bitonal.palette), new Set([0, 255]));
  for (const tint of TINTS) assert.equal(paletteOf(tint, "color").length, color.palette.length);
});

Deno.test("page: a quarter turn swaps the sides, and four turns give the image back", () => {
  const image = { width: 3, height: 2, pixels: Uint8Array.of(1, 2, 3, 4, 5, 6) };
  assert.deepEqual(rotated(image, 90), { width: 2, height: 3, pixels: Uint8Array.of(4, 1, 5, 2, 6, 3) });
  assert.deepEqual(rotated(image, 180), { width: 3, height: 2, pixels: Uint8Array.of(6, 5, 4, 3, 2, 1) });
  assert.deepEqual(rotated(image, 270), { width: 2, height: 3, pixels: Uint8Array.of(3, 6, 2, 5, 1, 4) });
  assert.deepEqual(rotated(rotated(image, 90), 270), image);
  const region = { x: 0, y: 0, width: 300, height: 200 };
  const turned = new PageRenderer().render({
    ...UPRIGHT,
    page: 1,
    region,
    width: 30,
    height: 20,
    rotation: 90,
    quality: "color",
  });
  assert.deepEqual([decodedPng(turned).width, decodedPng(turned).height], [20, 30]);
});

Deno.test("page: a page at full size has at most 200 kB", () => {
  const renderer = new PageRenderer();
  const region = { x: 0, y: 0, width: PAGE_WIDTH, height: PAGE_HEIGHT };
  const fullest = PAGES.reduce((most, page) => lettersOf(page) > lettersOf(most) ? page : most);
  const png = renderer.render({
    ...UPRIGHT,
    page: fullest.page,
    region,
    width: PAGE_WIDTH,
    height: PAGE_HEIGHT,
    quality: "color",
  });
  assert.ok(png.length <= 200_000, String(png.length));
});

function lettersOf(page: typeof PAGES[number]): number {
  return linesOf(page).reduce((sum, { text }) => sum + text.length, 0);
}

function contains(outer: Box, inner: Box): boolean {
  return inner.x >= outer.x && inner.y >= outer.y && inner.x + inner.width <= outer.x + outer.width &&
    inner.y + inner.height <= outer.y + outer.height;
}
