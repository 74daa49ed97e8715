type Block = Uint8Array<ArrayBuffer>;

/** Size of a block, the most that a reader of a body returns at a time, bytes. */
const BLOCK_BYTES = 64 * 1024;
/** Beyond so much of it in use, in all bodies together, further bytes wait on their connections, bytes. */
const MAX_USED_BYTES = 64 * 1024 * 1024;
/** Free blocks that are retained for later use, bytes: memory that is dropped instead is collected late. */
const MAX_FREE_BYTES = 4 * 1024 * 1024;

/** The buffer pool for what was read of bodies and not used yet. */
export class BurstMemory {
  readonly #free: Block[] = [];
  #used = 0;

  /** Whether no more should be taken. */
  get isFull(): boolean {
    return this.#used * BLOCK_BYTES >= MAX_USED_BYTES;
  }

  /** A block with whatever was in it last. */
  take(): Block {
    this.#used++;
    return this.#free.pop() ?? new Uint8Array(BLOCK_BYTES);
  }

  /** Releases a block that has no reader. */
  release(block: Block): void {
    this.#used--;
    if (this.#free.length * BLOCK_BYTES < MAX_FREE_BYTES) this.#free.push(block);
  }

  /** Leaves a block that may still be read to the garbage collector. */
  discard(): void {
    this.#used--;
  }
}
