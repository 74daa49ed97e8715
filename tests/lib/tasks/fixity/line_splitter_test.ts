import assert from "node:assert/strict";
import fc from "fast-check";
import { LineSplitter } from "@/lib/tasks/fixity/line_splitter.ts";

function linesOf(chunks: readonly Uint8Array[]): (string | null)[] {
  const lines: (string | null)[] = [];
  const splitter = new LineSplitter((line) => lines.push(line));
  for (const chunk of chunks) {
    const own = chunk.slice();
    splitter.push(own);
    // As a reader does that uses its memory again.
    own.fill(0x2a);
  }
  splitter.end();
  return lines;
}

const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("LineSplitter: cuts at LF, CR LF and CR wherever chunks end", () => {
  const text = "a\nb\r\nc\rd\r\n\né";
  const whole = ["a", "b", "c", "d", "", "é"];
  assert.deepEqual(linesOf([bytes(text)]), whole);
  fc.assert(fc.property(fc.array(fc.nat(bytes(text).length), { maxLength: 6 }), (cuts) => {
    const at = [0, ...cuts.sort((a, b) => a - b), bytes(text).length];
    assert.deepEqual(linesOf(at.slice(1).map((end, index) => bytes(text).subarray(at[index], end))), whole);
  }));
});

Deno.test("LineSplitter: a line that is too long or not UTF-8 is null, the next one is read", () => {
  const long = "x".repeat(9000);
  assert.deepEqual(linesOf([bytes(`${long}\nb`)]), [null, "b"]);
  assert.deepEqual(linesOf([bytes(long.slice(0, 5000)), bytes(`${long}\n`), bytes("b")]), [null, "b"]);
  assert.deepEqual(linesOf([bytes(long)]), [null]);
  assert.deepEqual(linesOf([Uint8Array.of(0x61, 0xff, 0x0a, 0x62)]), [null, "b"]);
});

Deno.test("LineSplitter: a line is as long as its bytes, and a byte order mark is one at the beginning alone, wherever chunks end", () => {
  const [long, fitting] = ["å".repeat(4097), "å".repeat(4096)];
  const all = bytes(`\ufeffa\n${long}\n${fitting}\n\ufeffb\n`);
  const lines = ["a", null, fitting, "\ufeffb"];
  assert.deepEqual(linesOf([all]), lines);
  for (const size of [1, 3, 8192, 8193]) {
    const chunks = Array.from(
      { length: Math.ceil(all.length / size) },
      (_, n) => all.subarray(n * size, (n + 1) * size),
    );
    assert.deepEqual(linesOf(chunks), lines, `chunks of ${size}`);
  }
});
