import assert from "node:assert/strict";
import { drawnPage, imageFile, PAGE_HEIGHT, PAGE_WIDTH, THUMBNAIL } from "@/embedded/archive/catalogue.ts";
import { pngSize } from "./png_size.ts";

const NUMBERS = Array.from({ length: 28 }, (_, index) => index + 1);

Deno.test("drawn pages: images and thumbnails have the sizes of the manifests", async () => {
  for (const number of NUMBERS) {
    const image = pngSize(await Deno.readFile(imageFile(number, "image")));
    assert.deepEqual(image, { width: PAGE_WIDTH, height: PAGE_HEIGHT });
    assert.deepEqual(pngSize(await Deno.readFile(imageFile(number, "thumbnail"))), THUMBNAIL);
  }
});

Deno.test("drawn pages: a volume shows pages of one book in turn, right pages as right pages, from a fixed start", () => {
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
