import assert from "node:assert/strict";
import { diskLook } from "@/lib/operations/notifications/disk_watch.ts";
import type { NotificationEvent } from "@/lib/operations/notifications/event.ts";

/** A disk, and a notifier that outlives a watch. */
class Disk {
  readonly events: NotificationEvent[] = [];
  readonly notes = new Map<string, string>();
  isLow = false;
  isFull = false;
  now = Date.UTC(2026, 0, 1);

  watch(): () => Promise<void> {
    return diskLook({
      notifier: {
        notify: (event) => Promise.resolve(void this.events.push(event)),
        remember: (name, text) => Promise.resolve(void this.notes.set(name, text)),
        remembered: (name) => Promise.resolve(this.notes.get(name) ?? null),
      },
      folder: "/data",
      disk: {
        room: () => Promise.resolve({ free: 2 ** 30, total: 100 * 2 ** 30 }),
        isLow: () => Promise.resolve(this.isLow),
      },
      isFull: () => Promise.resolve(this.isFull),
      now: () => this.now,
    });
  }

  types(): string[] {
    return this.events.map(({ type }) => type);
  }
}

Deno.test("disk watch: a disk that becomes nearly full, and then full, is told once each", async () => {
  const disk = new Disk();
  const look = disk.watch();
  await look();
  assert.deepEqual(disk.types(), []);
  disk.isLow = true;
  await look();
  await look();
  assert.deepEqual(disk.types(), ["disk.low"]);
  assert.equal(disk.events[0].summary, "The disk of the data folder /data is nearly full: 1.0 of 100.0 GiB are left.");
  disk.isFull = true;
  await look();
  await look();
  assert.deepEqual(disk.types(), ["disk.low", "disk.full"]);
});

Deno.test("disk watch: one that is full at once is not nearly full besides", async () => {
  const disk = new Disk();
  disk.isLow = disk.isFull = true;
  await disk.watch()();
  assert.deepEqual(disk.types(), ["disk.full"]);
});

Deno.test("disk watch: one that alternates is told once an hour", async () => {
  const disk = new Disk();
  const look = disk.watch();
  for (let minute = 0; minute < 121; minute++) {
    disk.isFull = minute % 2 === 0;
    await look();
    disk.now += 60_000;
  }
  assert.deepEqual(disk.types(), ["disk.full", "disk.full", "disk.full"]);
  assert.equal(new Set(disk.events.map(({ id }) => id)).size, 3);
});

Deno.test("disk watch: a process that starts does not tell again what the one before told", async () => {
  const disk = new Disk();
  disk.isLow = true;
  await disk.watch()();
  disk.now += 10 * 3_600_000;
  await disk.watch()();
  assert.deepEqual(disk.types(), ["disk.low"]);
});
