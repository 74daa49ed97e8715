import fc from "fast-check";
import assert from "node:assert/strict";
import { type PartSource, readFileSpan, readParts, receiveBody } from "@/embedded/store/bodies.ts";
import { streamReader } from "@/lib/std/body_reader.ts";
import { testInFolder } from "@/tests/test_in_folder.ts";

testInFolder("bodies: where a copy cannot be written, its source can be returned", async (folder) => {
  const source = `${folder}/source`;
  Deno.writeFileSync(source, new Uint8Array(1_000_000));
  // A file stands where the folder of the hour would be made.
  Deno.writeFileSync(`${folder}/bodies`, new Uint8Array());
  const stream = await readFileSpan(source, 0, 999_999);
  await assert.rejects(receiveBody({ folder }, streamReader(stream), []));
  // A reader that still held the stream would refuse this, and leave the file open.
  await stream.cancel();
});

async function all(stream: ReadableStream<Uint8Array>): Promise<number[]> {
  return [...new Uint8Array(await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer())];
}

testInFolder("parts: any range of any parts is that range of their bytes", async (folder) => {
  const piece = fc.record({ data: fc.uint8Array({ maxLength: 20 }), isFile: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 80 }), fc.nat(), fc.nat(), async (given, from, to) => {
      const bytes = given.flatMap(({ data }) => [...data]);
      fc.pre(bytes.length > 0);
      const pieces = given.map(({ data, isFile }, i): PartSource => {
        if (!isFile) return { data, size: data.length };
        Deno.writeFileSync(`${folder}/${i}`, data);
        return { file: String(i), size: data.length };
      });
      const [first, last] = [from % bytes.length, to % bytes.length].sort((a, b) => a - b);
      assert.deepEqual(await all(await readParts(folder, pieces, first, last)), bytes.slice(first, last + 1));
    }),
    { numRuns: 30 },
  );
});

testInFolder("parts: a missing one fails before the first byte, a cancelled read closes its files", async (folder) => {
  for (const name of ["a", "b"]) Deno.writeTextFileSync(`${folder}/${name}`, "12345");
  const piece = (file: string) => ({ file, size: 5 });
  await assert.rejects(readParts(folder, [piece("a"), piece("b"), piece("gone")], 0, 14), Deno.errors.NotFound);
  const stream = await readParts(folder, [piece("a"), piece("b")], 1, 9);
  const reader = stream.getReader();
  assert.deepEqual((await reader.read()).value, new TextEncoder().encode("2345"));
  await reader.cancel();
});
