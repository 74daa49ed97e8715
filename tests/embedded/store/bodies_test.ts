import assert from "node:assert/strict";
import { readFileSpan, receiveBody } from "@/embedded/store/bodies.ts";

Deno.test("bodies: where a copy cannot be written, its source can be returned", async () => {
  const folder = Deno.makeTempDirSync();
  const source = `${folder}/source`;
  Deno.writeFileSync(source, new Uint8Array(1_000_000));
  // A file stands where the folder of the hour would be made.
  Deno.writeFileSync(`${folder}/bodies`, new Uint8Array());
  const stream = await readFileSpan(source, 0, 999_999);
  await assert.rejects(receiveBody({ folder }, stream, []));
  // A reader that still held the stream would refuse this, and leave the file open.
  await stream.cancel();
  Deno.removeSync(folder, { recursive: true });
});
