import assert from "node:assert/strict";
import { Reserve, RESERVE_FILE_BYTES, RESERVE_FILES } from "@/embedded/store/disk_space.ts";
import { testInFolder } from "@/tests/test_in_folder.ts";

function bytesBelow(folder: string): number {
  return [...Deno.readDirSync(folder)].reduce((sum, { name, isDirectory }) => {
    const path = `${folder}/${name}`;
    return sum + (isDirectory ? bytesBelow(path) : Deno.statSync(path).size);
  }, 0);
}

testInFolder("reserve: it is created once, released and created again, and a start finds it", (folder) => {
  const isOut = new Int32Array(1);
  const reserve = new Reserve(folder, isOut);
  const all = RESERVE_FILES * RESERVE_FILE_BYTES;
  assert.deepEqual([reserve.isWhole, isOut[0], bytesBelow(folder)], [false, 1, 0]);
  assert.ok(reserve.make());
  assert.deepEqual([reserve.isWhole, isOut[0], bytesBelow(folder)], [true, 0, all]);
  assert.ok(reserve.hasBeside(10_000));
  assert.equal(bytesBelow(folder), all, "looking for room leaves nothing behind");
  assert.equal(new Reserve(folder, new Int32Array(1)).isWhole, true);
  for (let left = RESERVE_FILES - 1; left >= 0; left--) {
    assert.ok(reserve.release());
    assert.deepEqual([reserve.isWhole, isOut[0], bytesBelow(folder)], [false, 1, left * RESERVE_FILE_BYTES]);
  }
  assert.ok(!reserve.release());
  assert.equal(new Reserve(folder, new Int32Array(1)).isWhole, false);
  assert.ok(reserve.hasBeside(10_000));
  assert.equal(bytesBelow(folder), all, "it is taken before anything else");
});

testInFolder("reserve: one that was removed from outside is created again by the next probe", (folder) => {
  const isOut = new Int32Array(1);
  const reserve = new Reserve(folder, isOut);
  const all = RESERVE_FILES * RESERVE_FILE_BYTES;
  assert.ok(reserve.make());
  for (const removed of [`${folder}/reserve`, `${folder}/reserve/1`]) {
    Deno.removeSync(removed, { recursive: true });
    assert.ok(reserve.hasBeside(10_000), removed);
    assert.deepEqual([isOut[0], bytesBelow(folder)], [0, all]);
  }
});

testInFolder("reserve: one that cannot be created whole keeps the files that it has, for deletions", (folder) => {
  const isOut = new Int32Array(1);
  Deno.mkdirSync(`${folder}/reserve/2/taken`, { recursive: true });
  const reserve = new Reserve(folder, isOut);
  assert.throws(() => reserve.make());
  assert.deepEqual([isOut[0], bytesBelow(folder)], [1, 2 * RESERVE_FILE_BYTES]);
  assert.deepEqual([reserve.release(), reserve.release(), reserve.release()], [true, true, false]);
  assert.equal(bytesBelow(folder), 0);
  Deno.removeSync(`${folder}/reserve/2`, { recursive: true });
  assert.ok(reserve.make());
});

testInFolder("reserve: an incomplete reserve releases the rest, also after a start", (folder) => {
  assert.ok(new Reserve(folder, new Int32Array(1)).make());
  Deno.removeSync(`${folder}/reserve/2`);
  const started = new Reserve(folder, new Int32Array(1));
  assert.ok(!started.isWhole);
  assert.deepEqual([started.release(), started.release(), started.release()], [true, true, false]);
});
