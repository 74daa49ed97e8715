import assert from "node:assert/strict";
import { NO_VOLUMES, readVolumes, volumeIdentity, type VolumeList } from "@/lib/campaigns/projection/volumes.ts";

function all(text: string): ReturnType<VolumeList["line"]>[] {
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
    [{ id: "a", source: "https://x/1" }, { id: "b", source: "images:u1 u2\tu3" }, { id: "c", source: null }],
  );
});

Deno.test("volumes.txt: the last line needs no end, an id may be anything", () => {
  assert.deepEqual(all("__proto__\tx\n../..\n åäö\n\tsource"), [
    { id: "__proto__", source: "x" },
    { id: "../..", source: null },
    { id: " åäö", source: null },
    { id: "", source: "source" },
  ]);
  assert.deepEqual(all("a\r\nb\r"), [{ id: "a", source: null }, { id: "b", source: null }]);
});

Deno.test("volumes.txt: an empty or missing one has no volume", () => {
  assert.equal(readVolumes("").count, 0);
  assert.equal(readVolumes("\n \r\n\n").count, 0);
  assert.equal(NO_VOLUMES.count, 0);
  assert.throws(() => NO_VOLUMES.line(0), RangeError);
  assert.throws(() => NO_VOLUMES.id(0), RangeError);
  assert.throws(() => readVolumes("a").line(-1), RangeError);
});

Deno.test("volumes.txt: marks and spaces beside ASCII are part of an id, and lines of nothing else are blank", () => {
  assert.deepEqual(all("\ufeffa\n\u00a0\u2028\n\x7f\nå\t😀\n"), [
    { id: "\ufeffa", source: null },
    { id: "\x7f", source: null },
    { id: "å", source: "😀" },
  ]);
});

Deno.test("volumes.txt: a list of thousands takes what its text and offsets take", () => {
  const text = "volume-00000\thttps://archive.example.org/å\n".repeat(8000);
  const kept = readVolumes(text);
  assert.equal(kept.count, 8000);
  assert.equal(kept.size, new TextEncoder().encode(text).length + 8000 * 4);
  assert.deepEqual(kept.line(7999), { id: "volume-00000", source: "https://archive.example.org/å" });
  assert.throws(() => kept.line(8000), RangeError);
  assert.throws(() => kept.id(8000), RangeError);
});

Deno.test("volume identity: a volume that is listed again has the line where it came first", () => {
  const volumes = readVolumes("a\nb\tx\n\na\ty\nc\nb\n");
  const { first } = volumeIdentity(volumes);
  assert.equal(volumeIdentity(volumes).first, first, "computed once for each list");
  assert.deepEqual([0, 1, 2, 3, 4].map(first), [0, 1, 0, 3, 1]);
  const once = volumeIdentity(readVolumes("a\nb\nc"));
  assert.deepEqual([0, 1, 2].map(once.first), [0, 1, 2]);
});

Deno.test("volume identity: the digest tells ids and their order, not the sources", () => {
  const digest = (text: string) => volumeIdentity(readVolumes(text)).digest;
  assert.equal(digest("å\tx\r\nb"), digest("å\ty\nb\n"));
  assert.equal(new Set(["a\nb", "b\na", "ab", "a\nb\nc", "a"].map(digest)).size, 5);
});
