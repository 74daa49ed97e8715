import assert from "node:assert/strict";
import fc from "fast-check";
import { volumesAsBytes } from "@/lib/campaigns/projection/volume_bytes.ts";
import { readVolumes, type VolumeList } from "@/lib/campaigns/projection/volumes.ts";

function lines({ count, line, id, idLines }: VolumeList) {
  const ids = count === 0 ? [] : idLines().split("\n");
  assert.equal(ids.length, count);
  return ids.map((together, index) => ({ ...line(index), alone: id(index), together }));
}

Deno.test("volume bytes: any text gives the volumes that its text form gives", () => {
  const pieces = fc.constantFrom(
    "\n",
    "\r\n",
    "\t",
    " ",
    "\ufeff",
    "å",
    "😀",
    "\ud800",
    "\u2028",
    "\u00a0",
    "a",
    "\x7f",
    "\0",
  );
  const text = fc.oneof(fc.array(pieces, { maxLength: 60 }).map((parts) => parts.join("")), fc.string());
  fc.assert(fc.property(text, (text) => assert.deepEqual(lines(volumesAsBytes(text)), lines(readVolumes(text)))));
});

Deno.test("volume bytes: a list of thousands takes what its text and offsets take", () => {
  const text = "volume-00000\thttps://archive.example.org/å\n".repeat(8000);
  const kept = volumesAsBytes(text);
  assert.equal(kept.count, 8000);
  assert.equal(kept.size, new TextEncoder().encode(text).length + 8000 * 4);
  assert.deepEqual(kept.line(7999), { id: "volume-00000", source: "https://archive.example.org/å" });
  assert.throws(() => kept.line(8000), RangeError);
  assert.throws(() => kept.line(-1), RangeError);
  assert.throws(() => kept.id(8000), RangeError);
});
