import assert from "node:assert/strict";
import { DiskRoom } from "@/lib/process/disk_room.ts";
import { until } from "@/tests/until.ts";

const GIB = 2 ** 30;

/** A disk of so many GiB, with what it reported. */
function disk(total: number) {
  const lines: string[] = [];
  const state: { free: number | null } = { free: total };
  const room = new DiskRoom("/data", (line) => lines.push(line), () => {
    return Promise.resolve(state.free === null ? null : { free: state.free * GIB, total: total * GIB });
  });
  const isLowAt = async (all: readonly (number | null)[]) => {
    const results: boolean[] = [];
    for (state.free of all) results.push(await room.isLow());
    return results;
  };
  return { lines, isLowAt };
}

Deno.test("disk room: a tenth of the disk is little, which is reported once, and once when there is room again", async () => {
  const { lines, isLowAt } = disk(50);
  assert.deepEqual(await isLowAt([50, 5, 4.9, 1, 5.2, 5.4]), [false, false, true, true, true, true]);
  assert.deepEqual(await isLowAt([5.6, 5.2]), [false, false]);
  assert.deepEqual(lines, [
    "The disk of /data is nearly full: 4.9 of 50.0 GiB are left",
    "The disk of /data has room again: 5.6 of 50.0 GiB are left",
  ]);
});

Deno.test("disk room: of a large disk 20 GiB are enough, and what the system does not say changes nothing", async () => {
  const { lines, isLowAt } = disk(4000);
  assert.deepEqual(await isLowAt([21, 19, null, 23]), [false, true, true, false]);
  assert.equal(lines.length, 2);
});

Deno.test("disk room: the system says how much room a folder's disk has", async () => {
  const lines: string[] = [];
  const disk = new DiskRoom(Deno.cwd(), (line) => lines.push(line));
  const end = disk.watch();
  const { free = NaN, total = NaN } = await disk.room() ?? {};
  end();
  assert.ok(0 <= free && free < total);
  assert.equal(await new DiskRoom(`${Deno.cwd()}/missing`, assert.fail).room(), null);
  assert.ok(lines.length <= 1 && lines.every((line) => /: \d+\.\d of [1-9]\d*\.\d GiB are left$/.test(line)));
});

Deno.test("disk room: a disk that hangs is asked once, has no room and is as low as before, until the system answers", async () => {
  const lines: string[] = [];
  const answers: ((room: { free: number; total: number }) => void)[] = [];
  const read = () => new Promise<{ free: number; total: number }>((resolve) => answers.push(resolve));
  const room = new DiskRoom("/data", (line) => lines.push(line), read, 1);
  assert.deepEqual(await Promise.all([room.room(), room.room()]), [null, null]);
  assert.deepEqual([await room.isLow(), await room.room()], [false, null]);
  assert.equal(answers.length, 1);
  answers[0]({ free: 1, total: 100 });
  await until("it is asked again", async () => {
    const asked = room.room();
    answers[1]?.({ free: 2 * GIB, total: 100 * GIB });
    return await asked;
  });
  assert.equal(answers.length, 2);
});
