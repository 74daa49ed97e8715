import assert from "node:assert/strict";
import { readList } from "@/lib/mapi/mapi_client.ts";
import { BodyTooLong, SlowBody } from "@/lib/std/body_reader.ts";

const STALL_MS = 60_000;
const HELD = 10;

/** A body in pieces of so many bytes, and whether its reader let go of it. */
function answer(text: string, pieceBytes: number) {
  const bytes = new TextEncoder().encode(text);
  const seen = { cancelled: false, taken: 0 };
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (seen.taken >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(seen.taken, seen.taken + pieceBytes));
      seen.taken += pieceBytes;
    },
    cancel() {
      seen.cancelled = true;
    },
  }, { highWaterMark: 0 });
  return { response: new Response(body), seen };
}

Deno.test("long list: what is long and no array is refused while little of it has come", async () => {
  for (const text of ['{"name":["a","b","c"]}', '"0123456789ab"', "          12"]) {
    const { response, seen } = answer(text, 1);
    await assert.rejects(readList(response, HELD, STALL_MS), BodyTooLong, text);
    assert.deepEqual([seen.cancelled, seen.taken], [true, HELD + 1], text);
  }
  const announced = new Response("[]", { headers: { "content-length": "1000000000" } });
  await assert.rejects(readList(announced, HELD, STALL_MS), BodyTooLong);
});

Deno.test("long list: nothing is read before it is asked for, and leaving ends the store's answer", async () => {
  const { response, seen } = answer(JSON.stringify(Array(1000).fill({ a: 1 })), 4);
  const read = await readList(response, HELD, STALL_MS);
  assert.ok(read instanceof ReadableStream);
  const held = seen.taken;
  const reader = read.getReader();
  for (let taken = 0; taken < held + 8;) taken += (await reader.read()).value?.length ?? NaN;
  assert.equal(seen.taken, held + 8);
  await reader.cancel();
  assert.ok(seen.cancelled);
});

Deno.test("long list: one that ends without its bracket breaks the answer, whatever blanks follow", async () => {
  for (const pieceBytes of [1, 7, 1000]) {
    const read = (text: string) => readList(answer(text, pieceBytes).response, HELD, STALL_MS);
    const whole = '[{"a":[1]},{"b":[2]}] \r\n';
    assert.equal(await new Response(await read(whole)).text(), whole);
    for (const text of ['[{"a":[1]},{"b":[2', '[{"a":[1]},{"b":[2]}\n', '[{"a":[1]},{"b":[2]},']) {
      await assert.rejects(read(text).then((list) => new Response(list).text()), { name: "BrokenStream" }, text);
    }
  }
});

Deno.test("long list: a store that goes silent is too slow before the answer has begun, and breaks it later", async () => {
  const silent = (text: string) =>
    new Response(
      new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(text)) }),
    );
  await assert.rejects(
    readList(silent('[{"a"'), HELD, 20),
    SlowBody,
  );
  const read = await readList(silent('[{"a":1},{"b":2},'), HELD, 20);
  await assert.rejects(new Response(read).text(), { name: "BrokenStream" });
});
