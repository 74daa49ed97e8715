/** Most bytes that are probed for when checking whether bodies find room again. */
const PROBE_BYTES = 8 * 1024 * 1024;

/** What a change takes in the index, in bytes. */
const CHANGE_BYTES = 64 * 1024;

/** Whether the disk of the data folder has room. */
export class DiskSpace {
  readonly #reserveReleased: Int32Array;
  readonly #hasRoom: (bytes: number) => Promise<boolean>;
  readonly #warn: (message: string) => void;
  /** Size of the last write that found no room, in bytes; 0 once there was room again. */
  #missingBytes = 0;

  /**
   * The first number of `reserveReleased` is 1 while deletions use the reserve. `hasRoom` checks that the disk takes so
   * many bytes beside it. The first of several failures is reported to `warn`.
   */
  constructor(
    reserveReleased: Int32Array,
    hasRoom: (bytes: number) => Promise<boolean>,
    warn: (message: string) => void,
  ) {
    this.#reserveReleased = reserveReleased;
    this.#hasRoom = hasRoom;
    this.#warn = warn;
  }

  /** Whether the room that is left belongs to deletions. */
  get isReserved(): boolean {
    return Atomics.load(this.#reserveReleased, 0) === 1;
  }

  /**
   * Records that a write found no room.
   *
   * @param bytes how many bytes of a body had arrived
   */
  recordFull(bytes = 0): void {
    if (this.#missingBytes === 0) this.#warn("the disk is full: writes are refused, reads and deletions go on");
    this.#missingBytes = Math.min(Math.max(bytes, CHANGE_BYTES), PROBE_BYTES);
  }

  /** Whether a small write, or one of the size that failed last, would fail now. Probes the disk each time. */
  async isFull(): Promise<boolean> {
    const missingBytes = this.#missingBytes;
    if (!await this.#hasRoom(Math.max(missingBytes, CHANGE_BYTES))) return true;
    if (this.#missingBytes === missingBytes) this.#missingBytes = 0;
    return false;
  }

  /** Whether a body may be started. Probes the disk where the room that is left is reserved for deletions. */
  async admits(): Promise<boolean> {
    return !this.isReserved || await this.#hasRoom(0);
  }
}
