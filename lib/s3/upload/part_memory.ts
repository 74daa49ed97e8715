export type Block = Uint8Array<ArrayBuffer>;

/** Blocks of memory of one length, kept for whoever needs one next: what is dropped instead is collected late. */
export class Blocks {
  /** Of each block, bytes. */
  readonly lengthBytes: number;
  readonly #most: number;
  readonly #kept: Block[] = [];

  constructor(lengthBytes: number, keptBytes: number) {
    this.lengthBytes = lengthBytes;
    this.#most = Math.floor(keptBytes / lengthBytes);
  }

  /** A block with whatever was in it last. */
  take(): Block {
    return this.#kept.pop() ?? new Uint8Array(this.lengthBytes);
  }

  /** Takes a block that nobody reads or writes any more. */
  giveBack(block: Block): void {
    if (this.#kept.length < this.#most) this.#kept.push(block);
  }
}

/** Takes a share of the memory that all uploads have; answers how to give it back. */
type TakeShare = (bytes: number) => Promise<() => void>;

/** What one upload holds of it, in blocks that it uses again and again. Whoever asks for more than it holds waits. */
export class PartMemory {
  readonly #blocks: Blocks;
  readonly #take: TakeShare;
  readonly #shares: (() => void)[] = [];
  #heldBlocks = 0;
  #usedBlocks = 0;
  readonly #free: Block[] = [];
  #waiting: PromiseWithResolvers<void> | null = null;
  #failure: { readonly error: unknown } | null = null;

  constructor(blocks: Blocks, take: TakeShare) {
    this.#blocks = blocks;
    this.#take = take;
  }

  /** Of each block, bytes. */
  get blockBytes(): number {
    return this.#blocks.lengthBytes;
  }

  /** Holds at least so many bytes from now on. @throws as the share does */
  async reserve(bytes: number): Promise<void> {
    const missing = Math.ceil(bytes / this.blockBytes) - this.#heldBlocks;
    if (missing <= 0) return;
    this.#shares.push(await this.#take(missing * this.blockBytes));
    this.#heldBlocks += missing;
  }

  /** A block, as soon as one is not in use. For one caller at a time. @throws what {@link fail} was told */
  async block(): Promise<Block> {
    while (!this.#failure && this.#usedBlocks >= this.#heldBlocks) {
      this.#waiting = Promise.withResolvers();
      await this.#waiting.promise;
    }
    if (this.#failure) throw this.#failure.error;
    this.#usedBlocks++;
    return this.#free.pop() ?? this.#blocks.take();
  }

  /** Takes a block back that nobody reads or writes any more. */
  giveBack(block: Block): void {
    this.#free.push(block);
    this.#ended(1);
  }

  /** Forgets blocks that something may still read: others stand in for them. */
  lose(count: number): void {
    this.#ended(count);
  }

  /** No block will become free: whoever waits for one is told why. */
  fail(error: unknown): void {
    this.#failure ??= { error };
    this.#wake();
  }

  /** Gives everything back. */
  release(): void {
    for (const block of this.#free.splice(0)) this.#blocks.giveBack(block);
    for (const giveBack of this.#shares.splice(0)) giveBack();
    this.#heldBlocks = 0;
  }

  #ended(count: number): void {
    this.#usedBlocks -= count;
    this.#wake();
  }

  #wake(): void {
    this.#waiting?.resolve();
    this.#waiting = null;
  }
}
