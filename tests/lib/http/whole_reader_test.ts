import assert from "node:assert/strict";
import { wholeReader } from "@/lib/http/whole_reader.ts";
import { BodyTooLong } from "@/lib/std/read_limited.ts";

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

/** A stream of bytes, as the runtime's bodies are, which comes in chunks. */
function byteBody(...chunks: number[][]): Body {
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      const chunk = chunks.shift();
      if (chunk) return controller.enqueue(Uint8Array.from(chunk));
      controller.close();
      controller.byobRequest?.respond(0);
    },
  });
}

/** A stream of chunks. */
function chunkBody(...chunks: number[][]): Body {
  return ReadableStream.from(chunks.map((chunk) => Uint8Array.from(chunk)));
}

for (const [kind, body] of [["bytes", byteBody], ["chunks", chunkBody]] as const) {
  Deno.test(`reading whole, ${kind}: a body of the known length, an empty one too`, async () => {
    assert.deepEqual(await wholeReader(body([1, 2], [3], [4, 5]), 5).read(), Uint8Array.of(1, 2, 3, 4, 5));
    assert.deepEqual(await wholeReader(body(), 0).read(), new Uint8Array());
  });

  Deno.test(`reading whole, ${kind}: a body that ends early`, async () => {
    assert.equal(await wholeReader(body([1, 2], [3]), 4).read(), null);
    assert.equal(await wholeReader(body(), 4).read(), null);
  });

  Deno.test(`reading whole, ${kind}: a body that is longer`, async () => {
    await assert.rejects(wholeReader(body([1, 2], [3]), 2).read(), BodyTooLong);
    await assert.rejects(wholeReader(body([1]), 0).read(), BodyTooLong);
  });
}

Deno.test("reading whole: cancelling ends a read that waits, and the body", async () => {
  let isCancelled = false;
  const reader = wholeReader(
    new ReadableStream({
      type: "bytes",
      cancel() {
        isCancelled = true;
      },
    }),
    3,
  );
  const read = reader.read();
  reader.cancel();
  assert.equal(await read, null);
  assert.ok(isCancelled);
});
