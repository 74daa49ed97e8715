/** Most bytes that are looked for when it is asked whether a body finds room again. */
const PROBE_BYTES = 8 * 1024 * 1024;

/** What a change takes that is kept in the index, in bytes. */
const CHANGE_BYTES = 64 * 1024;

/** Whether the disk of the data folder takes more. */
export class DiskSpace {
  readonly #reserveIsOut: Int32Array;
  readonly #hasRoom: (bytes: number) => Promise<boolean>;
  readonly #warn: (message: string) => void;
  /** How much the last refused write had; 0 where none was refused since there was room. */
  #missing = 0;

  /**
   * The first number of `reserveIsOut` is 1 while deletions have the reserve; `hasRoom` looks whether the disk takes so
   * many bytes beside it. The first refusal of several is told to `warn`.
   */
  constructor(
    reserveIsOut: Int32Array,
    hasRoom: (bytes: number) => Promise<boolean>,
    warn: (message: string) => void,
  ) {
    this.#reserveIsOut = reserveIsOut;
    this.#hasRoom = hasRoom;
    this.#warn = warn;
  }

  /** Whether the room that is left belongs to deletions. */
  get isReserved(): boolean {
    return Atomics.load(this.#reserveIsOut, 0) === 1;
  }

  /** Notes that a write found no room: how many bytes of it had arrived, where it was a body. */
  ranOut(bytes = 0): void {
    if (this.#missing === 0) this.#warn("the disk is full: writes are refused, reads and deletions go on");
    this.#missing = Math.min(Math.max(bytes, CHANGE_BYTES), PROBE_BYTES);
  }

  /** Whether a small write would be refused now, or one like the last that was. Looks at the disk each time. */
  async isFull(): Promise<boolean> {
    const missing = this.#missing;
    if (!await this.#hasRoom(Math.max(missing, CHANGE_BYTES))) return true;
    if (this.#missing === missing) this.#missing = 0;
    return false;
  }

  /** Whether a body may be begun: looks for room where what is left belongs to deletions. */
  async admits(): Promise<boolean> {
    return !this.isReserved || await this.#hasRoom(0);
  }
}
