import { statfs } from "node:fs/promises";
import { readWithin } from "@/lib/std/timing.ts";

/** The room of a disk, in bytes; what only the system's administrator may use counts as taken. */
interface Room {
  readonly free: number;
  readonly total: number;
}

/** Below this share of a disk little is left; and below so many bytes on a large one. */
const LOW_SHARE = 0.1;
const LOW_BYTES = 20 * 2 ** 30;
/** How much more than that there must be before it counts as room again. */
const RECOVERED = 1.1;
/** How often the disk is looked at, ms. */
const CHECK_EVERY_MS = 60_000;
/** Timeout for the system, ms: a network share that is gone may never respond. */
const READ_MS = 5000;

/**
 * Watches whether a folder's disk is nearly full, and reports changes. Never blocks the process, and starts no second check
 * while one is pending.
 */
export class DiskRoom {
  /** The room at this moment; null where the system does not say, or not in time. */
  readonly room: () => Promise<Room | null>;
  #isLow = false;

  /**
   * @param warn receives lines for the operator
   * @param read the room of a folder's disk; null where the system does not say
   * @param readMs how long that is waited for
   */
  constructor(
    private readonly folder: string,
    private readonly warn: (line: string) => void,
    read = roomOf,
    readMs = READ_MS,
  ) {
    this.room = readWithin(readMs, () => read(folder));
  }

  /** Whether little is left at this moment; as before where the system does not say. */
  async isLow(): Promise<boolean> {
    const room = await this.room();
    if (room === null) return this.#isLow;
    const limit = Math.min(room.total * LOW_SHARE, LOW_BYTES);
    const isLow = room.free < (this.#isLow ? limit * RECOVERED : limit);
    if (isLow !== this.#isLow) {
      const state = isLow ? "is nearly full" : "has room again";
      this.warn(`The disk of ${this.folder} ${state}: ${gib(room.free)} of ${gib(room.total)} GiB are left`);
    }
    return this.#isLow = isLow;
  }

  /** Looks now and once a minute. @returns ends it */
  watch(): () => void {
    void this.isLow();
    const timer = setInterval(() => void this.isLow(), CHECK_EVERY_MS);
    Deno.unrefTimer(timer);
    return () => clearInterval(timer);
  }
}

async function roomOf(folder: string): Promise<Room | null> {
  try {
    const { bavail, blocks, bsize } = await statfs(folder);
    return { free: bavail * bsize, total: blocks * bsize };
  } catch {
    return null;
  }
}

function gib(bytes: number): string {
  return (bytes / 2 ** 30).toFixed(1);
}
