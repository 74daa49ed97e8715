import assert from "node:assert/strict";
import { drawnAlto, drawnPage, imageFile, PAGE_HEIGHT, PAGE_WIDTH, THUMBNAIL } from "@/embedded/archive/drawn_pages.ts";
import { decodedPng } from "./decoded_png.ts";

const NUMBERS = Array.from({ length: 28 }, (_, index) => index + 1);
/** The indexes of the palettes that the ink of the text has, and nothing else. */
const INK = { first: 16, end: 24 };
/** How far the box of a word may reach beyond its ink, in pixels: the hand does not always reach as far as it can. */
const SLACK = 4;

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

Deno.test("drawn pages: images and thumbnails have the sizes of the manifests", async () => {
  for (const number of NUMBERS) {
    const image = decodedPng(await Deno.readFile(imageFile(number, "image")));
    assert.deepEqual([image.width, image.height], [PAGE_WIDTH, PAGE_HEIGHT]);
    const thumbnail = decodedPng(await Deno.readFile(imageFile(number, "thumbnail")));
    assert.deepEqual([thumbnail.width, thumbnail.height], [THUMBNAIL.width, THUMBNAIL.height]);
  }
});

Deno.test("drawn pages: ink fills the boxes of the words to their edges, and none lies outside of them", async () => {
  for (const number of NUMBERS) {
    const { width, pixels } = decodedPng(await Deno.readFile(imageFile(number, "image")));
    const isInk = (at: number) => pixels[at] >= INK.first && pixels[at] < INK.end;
    const boxes = boxesOf(drawnAlto(number), "String|HYP");
    assert.ok(boxes.length > 5, String(number));
    const inside = new Uint8Array(pixels.length);
    for (const box of boxes) {
      let [left, right, top, bottom] = [Infinity, -1, Infinity, -1];
      for (let y = box.top; y < box.top + box.height; y++) {
        inside.fill(1, y * width + box.left, y * width + box.left + box.width);
        for (let x = box.left; x < box.left + box.width; x++) {
          if (!isInk(y * width + x)) continue;
          left = Math.min(left, x);
          right = Math.max(right, x);
          top = Math.min(top, y);
          bottom = Math.max(bottom, y);
        }
      }
      const gaps = [
        left - box.left,
        box.left + box.width - 1 - right,
        top - box.top,
        box.top + box.height - 1 - bottom,
      ];
      assert.ok(gaps.every((gap) => gap <= SLACK), `${number} ${JSON.stringify(box)} ${gaps}`);
    }
    assert.ok(pixels.every((_, at) => !isInk(at) || inside[at] === 1), String(number));
  }
});

Deno.test("drawn pages: blocks hold their lines, lines their words, and words do not overlap", () => {
  for (const number of NUMBERS) {
    for (const block of elements(drawnAlto(number), "TextBlock")) {
      const [outer] = boxesOf(block, "TextBlock");
      for (const line of elements(block, "TextLine")) {
        const [row] = boxesOf(line, "TextLine");
        assert.ok(contains({ left: 0, top: 0, width: PAGE_WIDTH, height: PAGE_HEIGHT }, outer) && contains(outer, row));
        const words = boxesOf(line, "String|HYP");
        words.forEach((word, at) => {
          assert.ok(contains(row, word), line);
          if (at > 0) assert.ok(word.left >= words[at - 1].left, line);
        });
      }
    }
  }
});

Deno.test("drawn pages: a volume shows pages of one book in turn, right pages as right pages, and begins where it always does", () => {
  const seen = new Set<number>();
  for (let volume = 0; volume < 300; volume++) {
    const numbers = Array.from({ length: 20 }, (_, index) => drawnPage(`SE-RA-${volume}`, index + 1));
    assert.deepEqual(numbers, Array.from({ length: 20 }, (_, index) => drawnPage(`SE-RA-${volume}`, index + 1)));
    assert.equal(new Set(numbers.slice(0, 14)).size, 14);
    assert.equal(new Set(numbers.map((number) => number > 14)).size, 1);
    numbers.forEach((number, index) => assert.equal(number % 2, (index + 1) % 2));
    for (const number of numbers) seen.add(number);
  }
  assert.deepEqual([...seen].sort((a, b) => a - b), NUMBERS);
});

Deno.test("drawn pages: a right page has its binding on the left, a left page on the right", async () => {
  for (const number of [1, 2]) {
    const { pixels } = decodedPng(await Deno.readFile(imageFile(number, "image")));
    const isPaper = (x: number) => pixels[1100 * PAGE_WIDTH + x] < INK.first;
    assert.deepEqual([isPaper(0), isPaper(PAGE_WIDTH - 1)], number === 1 ? [true, false] : [false, true]);
  }
});

function boxesOf(xml: string, names: string): Box[] {
  const place = new RegExp(`<(?:${names}) [^>]*?HPOS="(\\d+)" VPOS="(\\d+)" WIDTH="(\\d+)" HEIGHT="(\\d+)"`, "g");
  return [...xml.matchAll(place)].map(([, ...sides]) => {
    const [left, top, width, height] = sides.map(Number);
    return { left, top, width, height };
  });
}

function elements(xml: string, name: string): string[] {
  return xml.match(new RegExp(`<${name} [\\s\\S]*?</${name}>`, "g")) ?? [];
}

function contains(outer: Box, inner: Box): boolean {
  return inner.left >= outer.left && inner.top >= outer.top &&
    inner.left + inner.width <= outer.left + outer.width && inner.top + inner.height <= outer.top + outer.height;
}
