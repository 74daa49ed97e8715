import assert from "node:assert/strict";

import { SmallReads } from "@/lib/client/storage/upload/small_reads.ts";

Deno.test("small reads: files are read together, and one that has changed fails alone", async () => {
  const reads = new SmallReads();
  const files = Array.from({ length: 70 }, (_, index) => new Blob([`content ${index}`.repeat(index)]));
  const read = await Promise.all(files.map((file) => reads.read(file, file.size)));
  for (const [index, bytes] of read.entries()) {
    assert.equal(new TextDecoder().decode(bytes), `content ${index}`.repeat(index));
  }
  const changed = new Blob(["longer than before"]);
  changed.arrayBuffer = () => Promise.reject(new DOMException("changed", "NotReadableError"));
  const [sound, unreadable] = await Promise.allSettled([reads.read(files[1], files[1].size), reads.read(changed, 1)]);
  assert.equal(sound.status, "fulfilled");
  assert.equal(unreadable.status === "rejected" && unreadable.reason.name, "NotReadableError");
});
