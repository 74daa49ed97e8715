import assert from "node:assert/strict";
import fc from "fast-check";
import { NO_VOLUMES, readVolumes, type VolumeLine } from "@/lib/campaigns/projection/volumes.ts";

function all(text: string): VolumeLine[] {
  const volumes = readVolumes(text);
  return Array.from(
    { length: volumes.count },
    (_, index) => {
      const line = volumes.line(index);
      assert.equal(volumes.id(index), line.id);
      return line;
    },
  );
}

Deno.test("volumes.txt: a line is split at its first tab, blank lines do not count", () => {
  assert.deepEqual(
    all("a\thttps://x/1\n\n \t \nb\timages:u1 u2\tu3\r\n\r\nc\n"),
    [
      { id: "a", source: "https://x/1" },
      { id: "b", source: "images:u1 u2\tu3" },
      { id: "c", source: null },
    ],
  );
});

Deno.test("volumes.txt: the last line needs no end, an id may be anything", () => {
  assert.deepEqual(all("__proto__\tx\n../..\n åäö\n\tsource"), [
    { id: "__proto__", source: "x" },
    { id: "../..", source: null },
    { id: " åäö", source: null },
    { id: "", source: "source" },
  ]);
  assert.deepEqual(all("a\r\nb\r"), [{ id: "a", source: null }, {
    id: "b",
    source: null,
  }]);
});

Deno.test("volumes.txt: an empty or missing one has no volume", () => {
  assert.equal(readVolumes("").count, 0);
  assert.equal(readVolumes("\n \r\n\n").count, 0);
  assert.equal(NO_VOLUMES.count, 0);
  assert.throws(() => NO_VOLUMES.line(0), RangeError);
  assert.throws(() => NO_VOLUMES.id(0), RangeError);
  assert.throws(() => readVolumes("a").line(-1), RangeError);
});

Deno.test("volumes.txt: any lines are read back", () => {
  const id = fc.stringMatching(/^[^\s\t]+$/u);
  const line = fc.record({
    id,
    source: fc.option(fc.stringMatching(/^[!-~ \t]*[!-~]$/)),
  });
  fc.assert(
    fc.property(
      fc.array(line),
      fc.constantFrom("\n", "\r\n", "\n\n"),
      (lines, end) => {
        const text = lines.map(({ id, source }) => (source === null ? id : `${id}\t${source}`) + end).join("");
        assert.deepEqual(
          all(text),
          lines.map(({ id, source }) => ({ id, source })),
        );
      },
    ),
  );
});
