import assert from "node:assert/strict";
import { glyph, hasGlyph } from "@/embedded/archive/glyphs.ts";
import { drawPage, shrink } from "@/embedded/archive/page_image.ts";
import { CHARACTER_ADVANCE, DOT, layoutPage } from "@/embedded/archive/page_layout.ts";
import { MAX_LINE_CHARACTERS } from "@/embedded/archive/page_text.ts";

/** Darker than any paper, lighter than no ink. */
const INK = 80;

Deno.test("page: every line lies on the page, its words in it, without overlap", () => {
  for (let page = 1; page <= 30; page++) {
    const { width, height, lines } = layoutPage(3, "SE-1", page);
    lines.forEach((line, index) => {
      assert.ok(line.text.length <= MAX_LINE_CHARACTERS, line.text);
      assert.ok(line.x >= 0 && line.x + line.width <= width && line.y + line.height <= height);
      if (index > 0) assert.ok(line.y >= lines[index - 1].y + lines[index - 1].height);
      assert.equal(line.words.map(({ text }) => text).join(" "), line.text);
      const last = line.words[line.words.length - 1];
      assert.equal(last.x + last.width, line.x + line.width);
      assert.ok(line.words.every(({ confidence }) => confidence > 0 && confidence < 1));
    });
  }
});

Deno.test("page: every character of the texts is in the font", () => {
  for (let page = 1; page <= 60; page++) {
    for (const { text } of layoutPage(page, "SE-2", page).lines) {
      for (const character of text) assert.ok(hasGlyph(character), character);
    }
  }
  for (let code = 0x20; code < 0x7f; code++) assert.ok(hasGlyph(String.fromCharCode(code)), String.fromCharCode(code));
  const letters = [..."abcdefghijklmnopqrstuvwxyzåäöéABCDEFGHIJKLMNOPQRSTUVWXYZÅÄÖÉ0123456789"];
  assert.equal(new Set(letters.map((letter) => glyph(letter).join())).size, letters.length);
});

Deno.test("page: ink is where the layout says the words are, and nowhere else", () => {
  const layout = layoutPage(3, "SE-1", 2);
  const { width, pixels } = drawPage(layout, "t");
  const inside = new Uint8Array(pixels.length);
  for (const { words } of layout.lines) {
    for (const box of words) {
      for (let y = box.y; y < box.y + box.height; y++) inside.fill(1, y * width + box.x, y * width + box.x + box.width);
    }
  }
  assert.ok(pixels.every((grey, at) => grey > INK || inside[at] === 1));
  for (const { words } of layout.lines) {
    for (const word of words) {
      const dots = [...word.text].flatMap((character, column) =>
        glyph(character).flatMap((row, y) =>
          [0, 1, 2, 3, 4].filter((x) => row >> (4 - x) & 1).map((
            x,
          ) => [word.x + column * CHARACTER_ADVANCE + x * DOT, word.y + y * DOT])
        )
      );
      assert.ok(dots.length > 0);
      assert.ok(dots.every(([x, y]) => pixels[y * width + x] <= INK), word.text);
    }
  }
});

Deno.test("page: a smaller image is the mean of what it stands for", () => {
  const image = { width: 4, height: 2, pixels: Uint8Array.of(0, 10, 100, 100, 20, 10, 100, 104) };
  assert.deepEqual(shrink(image, 2), { width: 2, height: 1, pixels: Uint8Array.of(10, 101) });
});
