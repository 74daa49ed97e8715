import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { type BodySource, bodySource } from "@/lib/http/body_source.ts";
import { fileInForm } from "@/lib/http/multipart_form.ts";

/** The bytes cut into chunks of the given lengths, in turn. */
function source(bytes: Uint8Array, lengths: readonly number[]): BodySource {
  let at = 0;
  let turn = 0;
  return bodySource(
    new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull(controller) {
        if (at >= bytes.length) return controller.close();
        const length = lengths[turn++ % lengths.length];
        controller.enqueue(bytes.slice(at, at + length));
        at += length;
      },
    }),
  );
}

async function readAll(from: BodySource, maxBytes: number): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for (let part; (part = await from.read(maxBytes)) !== null;) {
    assert.ok(part.length > 0 && part.length <= maxBytes);
    parts.push(part.slice());
  }
  return Buffer.concat(parts);
}

Deno.test("form: any file comes out as it went in, however the body is cut", async () => {
  // Chunks of delimiters in the file are what a careless search trips over.
  const bytes = fc.array(fc.oneof(fc.constantFrom("\r", "\n", "-", "\r\n--", "\r\n--b", "b"), fc.string()), {
    maxLength: 30,
  })
    .map((parts) => parts.join("")).filter((text) => !text.includes("\r\n--bound"));
  const cuts = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(bytes, cuts, fc.integer({ min: 1, max: 50 }), fc.boolean(), async (text, cut, max, quoted) => {
      const body =
        `preamble\r\n--bound\r\nContent-Disposition: form-data; name="other"\r\n\r\n${text}\r\n--bound \r\n` +
        `Content-Disposition: form-data; filename="f"; name=${
          quoted ? '"file"' : "file"
        }\r\nContent-Type: a/b\r\n\r\n` +
        `${text}\r\n--bound--\r\nepilogue`;
      const type = `multipart/form-data; boundary=${quoted ? '"bound"' : "bound"}`;
      const file = await fileInForm(source(Buffer.from(body), cut), type, "file");
      assert.equal(file.contentType, "a/b");
      assert.equal((await readAll(file.source, max)).toString(), text);
    }),
    { numRuns: 200 },
  );
});

Deno.test("form: what the runtime's own encoder writes is read", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.string({ maxLength: 20 }), async (bytes, name) => {
      const form = new FormData();
      form.append("note", name);
      form.append("file", new Blob([bytes.slice()]), name || "x");
      const request = new Request("http://x/", { method: "POST", body: form });
      const whole = await request.clone().bytes();
      const file = await fileInForm(source(whole, [17]), request.headers.get("content-type"), "file");
      assert.deepEqual(new Uint8Array(await readAll(file.source, 1000)), bytes);
    }),
    { numRuns: 60 },
  );
});

Deno.test("form: random bytes are rejected, by name, and never a file", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
      await assert.rejects(async () => {
        const file = await fileInForm(source(bytes, [9]), "multipart/form-data; boundary=b", "file");
        await readAll(file.source, 100);
      }, (error: { status: number; message: string; detail: unknown }) => {
        assert.ok(error.status === 400 || error.status === 422);
        assert.match(JSON.stringify(error.detail), /file/);
        return true;
      });
    }),
  );
});
