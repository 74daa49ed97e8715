import assert from "node:assert/strict";
import { readBytes, readForm, readJson } from "@/lib/http/body.ts";
import { HttpError } from "@/lib/http/errors.ts";

Deno.test("body: a client that leaves in the middle is 499 and no fault of ours", async () => {
  const reads = {
    bytes: (request: Request) => readBytes(request, 100),
    form: readForm,
    json: (r: Request) => readJson(r),
  };
  for (const [name, read] of Object.entries(reads)) {
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      start: (controller) => controller.enqueue(new Uint8Array([0x7b])),
      pull: (controller) => controller.error(new Deno.errors.BadResource("gone")),
    }, { highWaterMark: 0 });
    const request = new Request("http://site.example/", { method: "POST", body });
    await assert.rejects(read(request), (error) => error instanceof HttpError && error.status === 499, name);
  }
});
