import assert from "node:assert/strict";

import { batchedPut } from "@/lib/client/storage/upload/batched_put.ts";
import type { PutResponse } from "@/lib/client/storage/upload/put_file.ts";
import { type BatchedFile, batchParts, MAX_BATCH_FILES } from "@/lib/presentation/storage/file_batch.ts";

const text = (bytes: BufferSource) => new TextDecoder().decode(bytes);
const OK: PutResponse = { status: 200, text: "", etag: null, retryAfter: null };

/** Requests that a test responds to. */
class Server {
  readonly requests: { readonly files: BatchedFile[]; readonly contents: string; readonly signal: AbortSignal }[] = [];
  respond: (files: BatchedFile[]) => PutResponse | Promise<PutResponse> = (files) => ({
    ...OK,
    text: JSON.stringify(files.map(({ key }) => ({ ...OK, status: key.startsWith("taken") ? 412 : 200, etag: key }))),
  });

  readonly #put = batchedPut(async (body, signal) => {
    const parts = batchParts(body);
    assert.ok(parts);
    const files: BatchedFile[] = JSON.parse(text(parts.head));
    this.requests.push({ files, contents: text(parts.rest), signal });
    const aborted = new Promise<never>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    return await Promise.race([this.respond(files), aborted]);
  });

  put(key: string, signal = new AbortController().signal, onProgress = (_sent: number) => {}): Promise<PutResponse> {
    const url = `/storage/api/buckets/:bucket/objects/:key?${new URLSearchParams({ bucket: "b", key })}`;
    const { buffer } = new TextEncoder().encode(`<${key}>`);
    return this.#put({ url, headers: { "content-type": "text/plain" }, body: buffer, signal, onProgress });
  }
}

Deno.test("batched put: files that are ready together share a request, and each has its own response", async () => {
  const server = new Server();
  const keys = ["a b", "ä/../+", "taken", ...Array.from({ length: MAX_BATCH_FILES }, (_, index) => `${index}`)];
  const sent: [string, number][] = [];
  const responses = await Promise.all(
    keys.map((key) => server.put(key, undefined, (bytes) => sent.push([key, bytes]))),
  );
  assert.deepEqual(responses.map(({ etag }) => etag), keys);
  assert.deepEqual(responses.map(({ status }) => status), keys.map((key) => key === "taken" ? 412 : 200));
  assert.deepEqual(server.requests.map(({ files }) => files.length), [MAX_BATCH_FILES, 3]);
  assert.deepEqual(server.requests[0].files[0], {
    bucket: "b",
    key: "a b",
    headers: { "content-type": "text/plain" },
    bytes: 5,
  });
  assert.equal(server.requests.map(({ contents }) => contents).join(""), keys.map((key) => `<${key}>`).join(""));
  assert.deepEqual([sent.length, sent[0]], [keys.length - 1, ["a b", 5]], "what was rejected has not left");
});

Deno.test("batched put: a file that is given up ends neither the others nor their request, and the last one ends it", async () => {
  const server = new Server();
  const held = Promise.withResolvers<void>();
  const isHere = Promise.withResolvers<void>();
  const { respond } = server;
  server.respond = async (files) => {
    isHere.resolve();
    await held.promise;
    return respond(files);
  };
  const [one, two, early] = [new AbortController(), new AbortController(), new AbortController()];
  const puts = [server.put("one", one.signal), server.put("two", two.signal), server.put("early", early.signal)];
  early.abort(new Error("given up early"));
  await assert.rejects(puts[2], /given up early/);
  await isHere.promise;
  assert.deepEqual(server.requests[0].files.map(({ key }) => key), ["one", "two"]);
  one.abort(new Error("given up"));
  await assert.rejects(puts[0], /given up/);
  assert.equal(server.requests[0].signal.aborted, false);
  held.resolve();
  assert.equal((await puts[1]).status, 200);

  server.respond = () => new Promise(() => {});
  const last = new AbortController();
  const alone = server.put("alone", last.signal);
  while (server.requests.length === 1) await new Promise((resolve) => setTimeout(resolve));
  last.abort(new Error("nothing is left"));
  await assert.rejects(alone, /nothing is left/);
  assert.equal(server.requests[1].signal.aborted, true);
});

Deno.test("batched put: what fails as a whole fails for each file, and a response of another server is one to try again", async () => {
  const server = new Server();
  const statuses = async () => (await Promise.all([server.put("a"), server.put("b")])).map(({ status }) => status);
  for (const status of [0, 401, 503]) {
    server.respond = () => ({ ...OK, status });
    assert.deepEqual(await statuses(), [status, status]);
  }
  for (const text of ["<html>", "[]", "{}", "null", "[null,null]", "[{},{}]", '[{"status":200},1]']) {
    server.respond = () => ({ ...OK, text });
    assert.deepEqual(await statuses(), [502, 502], text);
  }
});
