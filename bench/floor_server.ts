/**
 * The floor that large uploads and downloads are measured against: a server that only makes the MD5 of what it gets, writes
 * it to a file, flushes it, and gives files back. `floor_server.ts FOLDER`; prints its origin.
 */
import { createHash } from "node:crypto";
import { refuseArguments, toolArguments } from "@/tools/arguments.ts";

const BUFFER_BYTES = 128 * 1024;

const { words: [folder] } = toolArguments("floor_server.ts FOLDER", { words: 1 });
if (folder === undefined) refuseArguments("FOLDER is required");

const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
  const path = `${folder}/${new URL(request.url).pathname.replaceAll(/[^a-z0-9]/g, "_")}`;
  if (request.method === "PUT") return new Response(null, { headers: { etag: `"${await keep(path, request.body)}"` } });
  const file = await Deno.open(path);
  const { size } = await file.stat();
  if (request.method !== "HEAD") return new Response(file.readable, { headers: { "content-length": String(size) } });
  file.close();
  return new Response(null, { headers: { "content-length": String(size) } });
});
console.log(`http://127.0.0.1:${server.addr.port}`);

async function keep(path: string, body: ReadableStream<Uint8Array> | null): Promise<string> {
  const hash = createHash("md5");
  const file = Deno.openSync(path, { create: true, truncate: true, write: true });
  const reader = body?.getReader({ mode: "byob" });
  for (let buffer = new ArrayBuffer(BUFFER_BYTES); reader;) {
    const { done, value } = await reader.read(new Uint8Array(buffer));
    if (done || !value) break;
    hash.update(value);
    for (let written = 0; written < value.length;) written += file.writeSync(value.subarray(written));
    buffer = value.buffer;
  }
  await file.syncData();
  file.close();
  return hash.digest("hex");
}
