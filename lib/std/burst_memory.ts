type Block = Uint8Array<ArrayBuffer>;

/** Of each block, bytes: what a reader of a body is given at a time at most. */
const BLOCK_BYTES = 64 * 1024;
/** Beyond so much of it in use, in all bodies together, what comes waits on its connection, bytes. */
const MOST_BYTES = 64 * 1024 * 1024;
/** What is kept for whoever needs it next, bytes: memory that is dropped instead is collected late. */
const KEPT_BYTES = 4 * 1024 * 1024;

/** Memory for what was read of bodies and not used yet. */
export class BurstMemory {
  readonly #kept: Block[] = [];
  #used = 0;

  /** Whether no more should be taken. */
  get isFull(): boolean {
    return this.#used * BLOCK_BYTES >= MOST_BYTES;
  }

  /** Blocks in use. */
  get used(): number {
    return this.#used;
  }

  /** A block with whatever was in it last. */
  take(): Block {
    this.#used++;
    return this.#kept.pop() ?? new Uint8Array(BLOCK_BYTES);
  }

  /** Takes back a block that has no reader any more. */
  giveBack(block: Block): void {
    this.#used--;
    if (this.#kept.length * BLOCK_BYTES < KEPT_BYTES) this.#kept.push(block);
  }

  /** Forgets a block that something may still read. */
  lose(): void {
    this.#used--;
  }
}
