import { randomBytes } from "node:crypto";
import { removeIfExists, sizeIfExists } from "@/lib/std/files.ts";
import { isNoSpace } from "./store_error.ts";

/** Most bytes that are probed for when checking whether bodies find room again. */
const PROBE_BYTES = 8 * 1024 * 1024;

/** Space that a change takes in the index, bytes. */
const CHANGE_BYTES = 64 * 1024;

/** Whether the disk of the data folder has room. */
export class DiskSpace {
  /** Size of the last write that found no room, in bytes; 0 once there was room again. */
  #missingBytes = 0;

  /**
   * The first number of `reserveReleased` is 1 while deletions use the reserve. `hasRoom` checks that the disk takes so
   * many bytes beside it. The first of several failures is reported to `warn`.
   */
  constructor(
    private readonly reserveReleased: Int32Array,
    private readonly hasRoom: (bytes: number) => Promise<boolean>,
    private readonly warn: (message: string) => void,
  ) {}

  /** Whether the room that is left belongs to deletions. */
  get isReserved(): boolean {
    return Atomics.load(this.reserveReleased, 0) === 1;
  }

  /**
   * Records that a write found no room.
   *
   * @param bytes how many bytes of a body had arrived
   */
  recordFull(bytes = 0): void {
    if (this.#missingBytes === 0) this.warn("the disk is full: writes are refused, reads and deletions go on");
    this.#missingBytes = Math.min(Math.max(bytes, CHANGE_BYTES), PROBE_BYTES);
  }

  /** Whether a small write, or one of the size that failed last, would fail now. Probes the disk each time. */
  async isFull(): Promise<boolean> {
    const missingBytes = this.#missingBytes;
    if (!await this.hasRoom(Math.max(missingBytes, CHANGE_BYTES))) return true;
    if (this.#missingBytes === missingBytes) this.#missingBytes = 0;
    return false;
  }

  /** Whether a body may be started. Probes the disk where the room that is left is reserved for deletions. */
  async admits(): Promise<boolean> {
    return !this.isReserved || await this.hasRoom(0);
  }
}

/**
 * How much of the disk is reserved for deletions, in files of so many bytes: more than the log of one change takes,
 * which is 9 MB where an object of ten thousand parts is deleted.
 */
export const RESERVE_FILES = 3;
export const RESERVE_FILE_BYTES = 4 * 1024 * 1024;

/** How much is written at a time. */
const BLOCK_BYTES = 256 * 1024;

/**
 * Files whose only use is their length. Where the disk is full they are removed, one after the other, so that a
 * deletion finds room for its log. They are created again from what deletions free.
 */
export class Reserve {
  readonly #folder: string;

  /** `isReleased` is shared between threads: its first number is 1 while the reserve is released. */
  constructor(folder: string, private readonly isReleased: Int32Array) {
    this.#folder = `${folder}/reserve`;
    this.#setWhole(this.#isThere());
  }

  get isWhole(): boolean {
    return Atomics.load(this.isReleased, 0) === 0;
  }

  /**
   * Removes one file of the reserve. Most deletions need no more, and the others stay out of reach of programs that
   * fill the disk meanwhile.
   *
   * @returns whether there was one that could be removed
   */
  release(): boolean {
    this.#setWhole(false);
    return this.#files().reverse().some((path) => {
      try {
        Deno.removeSync(path);
        return true;
      } catch {
        return false;
      }
    });
  }

  /**
   * Creates the files of the reserve that do not exist, as many as find room.
   *
   * @returns whether all exist; false on a full disk
   * @throws for any other failure
   */
  make(): boolean {
    if (this.isWhole) return true;
    Deno.mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const isMade = this.#files().every((path) => isWholeFile(path) || allocate(path, RESERVE_FILE_BYTES));
    if (isMade) this.#setWhole(true);
    return isMade;
  }

  /**
   * Whether the disk has so many bytes beside the reserve at this moment. A reserve that was removed from outside is
   * created again.
   *
   * @throws for any failure but a full disk
   */
  hasBeside(bytes: number): boolean {
    if (this.isWhole) this.#setWhole(this.#isThere());
    if (!this.make()) return false;
    const path = `${this.#folder}/probe`;
    const has = allocate(path, bytes);
    if (has) removeIfExists(path);
    return has;
  }

  #isThere(): boolean {
    return this.#files().every(isWholeFile);
  }

  #files(): string[] {
    return Array.from({ length: RESERVE_FILES }, (_, n) => `${this.#folder}/${n}`);
  }

  #setWhole(isWhole: boolean): void {
    Atomics.store(this.isReleased, 0, isWhole ? 0 : 1);
  }
}

/**
 * Writes a file of so many bytes; removes it where they find no room.
 *
 * @returns whether they found room
 */
function allocate(path: string, bytes: number): boolean {
  try {
    using file = Deno.openSync(path, { create: true, write: true, truncate: true, mode: 0o600 });
    // Not zeros: a file system that compresses would reserve no room for them.
    const block = randomBytes(Math.min(BLOCK_BYTES, bytes));
    for (let written = 0; written < bytes;) {
      written += file.writeSync(block.subarray(0, Math.min(block.length, bytes - written)));
    }
    // Some disks only say here that they have no room, and failing ones that they take nothing.
    file.syncDataSync();
    return true;
  } catch (error) {
    if (!isNoSpace(error)) throw error;
    removeIfExists(path);
    return false;
  }
}

function isWholeFile(path: string): boolean {
  return sizeIfExists(path) === RESERVE_FILE_BYTES;
}
