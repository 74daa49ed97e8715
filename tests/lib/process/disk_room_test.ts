import assert from "node:assert/strict";
import { DiskRoom } from "@/lib/process/disk_room.ts";

const GIB = 2 ** 30;

/** A disk of so many GiB, with what it reported. */
function disk(total: number) {
  const lines: string[] = [];
  const state: { free: number | null } = { free: total };
  const room = new DiskRoom("/data", (line) => lines.push(line), () => {
    return state.free === null ? null : { free: state.free * GIB, total: total * GIB };
  });
  const isLowAt = (free: number | null) => {
    state.free = free;
    return room.isLow();
  };
  return { lines, isLowAt };
}

Deno.test("disk room: a tenth of the disk is little, which is reported once, and once when there is room again", () => {
  const { lines, isLowAt } = disk(50);
  assert.deepEqual([50, 5, 4.9, 1, 5.2, 5.4].map(isLowAt), [false, false, true, true, true, true]);
  assert.deepEqual([5.6, 5.2].map(isLowAt), [false, false]);
  assert.deepEqual(lines, [
    "The disk of /data is nearly full: 4.9 of 50.0 GiB are left",
    "The disk of /data has room again: 5.6 of 50.0 GiB are left",
  ]);
});

Deno.test("disk room: of a large disk 20 GiB are enough, and what the system does not say changes nothing", () => {
  const { lines, isLowAt } = disk(4000);
  assert.deepEqual([21, 19, null, 23].map(isLowAt), [false, true, true, false]);
  assert.equal(lines.length, 2);
});

Deno.test("disk room: the system says how much room a folder's disk has", () => {
  const lines: string[] = [];
  const end = new DiskRoom(Deno.cwd(), (line) => lines.push(line)).watch();
  end();
  assert.ok(lines.length <= 1 && lines.every((line) => /: \d+\.\d of [1-9]\d*\.\d GiB are left$/.test(line)));
});
