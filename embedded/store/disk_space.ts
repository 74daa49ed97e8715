/** Most bytes that are looked for when it is asked whether a body finds room again. */
const PROBE_BYTES = 8 * 1024 * 1024;

/** What a change takes that is kept in the index, in bytes. */
const CHANGE_BYTES = 64 * 1024;

/** Whether the disk of the data folder takes more. */
export class DiskSpace {
  readonly #reserveReleased: Int32Array;
  readonly #hasRoom: (bytes: number) => Promise<boolean>;
  readonly #warn: (message: string) => void;
  /** How much the last refused write had; 0 where none was refused since there was room. */
  #missingBytes = 0;

  /**
   * The first number of `reserveReleased` is 1 while deletions have the reserve; `hasRoom` looks whether the disk takes so
   * many bytes beside it. The first refusal of several is told to `warn`.
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

  /** Notes that a write found no room: how many bytes of it had arrived, where it was a body. */
  recordFull(bytes = 0): void {
    if (this.#missingBytes === 0) this.#warn("the disk is full: writes are refused, reads and deletions go on");
    this.#missingBytes = Math.min(Math.max(bytes, CHANGE_BYTES), PROBE_BYTES);
  }

  /** Whether a small write would be refused now, or one like the last that was. Looks at the disk each time. */
  async isFull(): Promise<boolean> {
    const missingBytes = this.#missingBytes;
    if (!await this.#hasRoom(Math.max(missingBytes, CHANGE_BYTES))) return true;
    if (this.#missingBytes === missingBytes) this.#missingBytes = 0;
    return false;
  }

  /** Whether a body may be begun: looks for room where what is left belongs to deletions. */
  async admits(): Promise<boolean> {
    return !this.isReserved || await this.#hasRoom(0);
  }
}
