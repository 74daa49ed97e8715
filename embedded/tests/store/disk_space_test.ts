import assert from "node:assert/strict";
import { receiveBody } from "@/embedded/store/bodies.ts";
import { DiskSpace } from "@/embedded/store/disk_space.ts";
import { streamReader } from "@/lib/std/body_reader.ts";
import { testInFolder } from "@/tests/test_in_folder.ts";

const MIB = 1024 * 1024;

/** A disk with so many bytes left beside a whole reserve. */
function diskOf(bytes: number) {
  const disk = { bytes, asked: [] as number[], warnings: 0, reserve: new Int32Array(1) };
  const space = new DiskSpace(
    disk.reserve,
    (wanted) => {
      disk.asked.push(wanted);
      if (disk.bytes >= 0) disk.reserve[0] = 0;
      return Promise.resolve(wanted <= disk.bytes);
    },
    () => disk.warnings++,
  );
  return { disk, space };
}

Deno.test("disk space: after a write found no room it is full until a write of that size finds room", async () => {
  const { disk, space } = diskOf(MIB);
  assert.equal(await space.isFull(), false);
  space.recordFull(3 * MIB);
  space.recordFull(2 * MIB);
  assert.equal(await space.isFull(), true);
  disk.bytes = 2 * MIB;
  assert.equal(await space.isFull(), false);
  disk.bytes = MIB;
  assert.equal(await space.isFull(), false);
  assert.equal(disk.warnings, 1);
  space.recordFull(1000 * MIB);
  assert.deepEqual([disk.warnings, await space.isFull()], [2, true]);
  assert.ok(disk.asked.every((bytes) => bytes <= 8 * MIB), "no look fills the disk");
});

Deno.test("disk space: a disk that others filled is full before any write was rejected", async () => {
  const { space } = diskOf(0);
  assert.equal(await space.isFull(), true);
});

testInFolder("disk space: bodies fail before they take room while deletions have the reserve", async (folder) => {
  const { disk, space } = diskOf(-1);
  disk.reserve[0] = 1;
  const body = () => streamReader(new Response(new Uint8Array(100_000)).body!);
  await assert.rejects(receiveBody({ folder, space }, body(), []), { code: "OutOfSpace" });
  assert.deepEqual([...Deno.readDirSync(folder)], []);
  disk.bytes = 0;
  const received = await receiveBody({ folder, space }, body(), []);
  received.discard();
  // The reserve is given away in the middle of a body.
  const parts = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      controller.enqueue(new Uint8Array(50_000));
      disk.reserve[0] = 1;
    },
  }, { highWaterMark: 0 });
  disk.bytes = -1;
  await assert.rejects(receiveBody({ folder, space }, streamReader(parts), []), { code: "OutOfSpace" });
  for (const hour of Deno.readDirSync(`${folder}/bodies`)) {
    assert.deepEqual([...Deno.readDirSync(`${folder}/bodies/${hour.name}`)], []);
  }
});
