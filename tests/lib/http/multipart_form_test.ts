import assert from "node:assert/strict";
import fc from "fast-check";
import { inPieces } from "@/tests/fuzz/hostile.ts";
import { Buffer } from "node:buffer";
import { type BodySource, bodySource } from "@/lib/http/body.ts";
import { byteSearch, fileInForm } from "@/lib/http/multipart_form.ts";

async function readAll(from: BodySource, maxBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for (let part; (part = await from.read(maxBytes)) !== null;) {
    assert.ok(part.length > 0 && part.length <= maxBytes);
    parts.push(part.slice());
  }
  return Buffer.concat(parts);
}

Deno.test("form: what the runtime's own encoder writes is read", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.string({ maxLength: 20 }), async (bytes, name) => {
      const form = new FormData();
      form.append("note", name);
      form.append("file", new Blob([bytes.slice()]), name || "x");
      const request = new Request("http://x/", { method: "POST", body: form });
      const whole = await request.clone().bytes();
      const file = await fileInForm(
        bodySource(ReadableStream.from(inPieces(whole, [17]))),
        request.headers.get("content-type"),
        "file",
      );
      assert.deepEqual(new Uint8Array(await readAll(file.source, 1000)), bytes);
    }),
    { numRuns: 60 },
  );
});

Deno.test("byte search: finds the first place, as the runtime's own search does", () => {
  // Few different bytes make near misses likely.
  const bytes = (minLength: number, maxLength: number) =>
    fc.array(fc.constantFrom(13, 10, 45, 98), { minLength, maxLength }).map((list) => Uint8Array.from(list));
  fc.assert(
    fc.property(bytes(1, 8), bytes(0, 200), (mark, text) => {
      assert.equal(byteSearch(mark)(text), Buffer.from(text).indexOf(Buffer.from(mark)));
    }),
    { numRuns: 2000 },
  );
  const long = new Uint8Array(400).fill(7);
  const text = new Uint8Array(1000).fill(7);
  text[300] = 8;
  assert.equal(byteSearch(long)(text), 301);
});
