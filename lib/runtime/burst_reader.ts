import { type BodyReader, ChunksTooSmall, releaseReader } from "@/lib/std/body_reader.ts";

/**
 * Size of a read, bytes: small at first, doubled where the chunks fill it, up to the most, beyond which there is more to
 * move than is saved.
 */
const FIRST_READ_BYTES = 1024;
export const MOST_READ_BYTES = 8 * 1024;
/** A burst of so many reads decides whether later reads are larger. */
const DECIDING_READS = 8;

/**
 * A burst ends here, even when more bytes have arrived. The runtime reads ahead 128 times at most before the event loop turns
 * (tokio's cooperative budget): with the largest reads that is 1 MiB, so a burst leaves nothing behind that grows.
 */
const MOST_BURST_BYTES = 1024 * 1024;

/**
 * A burst of more reads must bring so many bytes with each. It cannot be left in the middle, and no other request is served
 * meanwhile: 8,192 of the smallest reads are some 50 ms. Chunks that are smaller only pass where their sender is slow.
 */
const MANY_READS = 8192;
const LEAST_MEAN_BYTES = 128;

type Read = ReadableStreamReadResult<Uint8Array<ArrayBuffer>>;
type FilledBlock = { readonly block: Uint8Array<ArrayBuffer>; length: number };

/** Size of a block, the most that is returned at a time, bytes. */
const BLOCK_BYTES = 64 * 1024;
/** Beyond so many blocks in use, 64 MiB in all bodies together, further bytes wait on their connections. */
const MOST_BLOCKS = 1024;

let usedBlocks = 0;

function takeBlock(): Uint8Array<ArrayBuffer> {
  usedBlocks++;
  return new Uint8Array(BLOCK_BYTES);
}

/** Frees a block that has no reader: left to the garbage collector, its memory would stay for long. */
function freeBlock(block: Uint8Array<ArrayBuffer>): void {
  usedBlocks--;
  block.buffer.transfer(0);
}

/**
 * Reads a chunked body in bursts: all that is there until a read has to wait, copied into memory of our own.
 *
 * With every read the runtime (Deno 2.9) first takes as much off the connection as the largest read on it requested,
 * returns no more than the rest of one chunk, and moves what is left forward. Read only when bytes are needed, a body grows
 * there with each end of a chunk, and each read moves more. But it takes something off the connection only so often before
 * the event loop turns, so reads that follow each other at once empty its buffer.
 */
export class BurstReader implements BodyReader {
  #target = new Uint8Array(FIRST_READ_BYTES);
  #readBytes = FIRST_READ_BYTES;
  /** A read that had to wait when the last burst ended. */
  #waiting: Promise<Read> | null = null;
  readonly #blocks: FilledBlock[] = [];
  #lent: FilledBlock | null = null;
  #ended = false;
  #cancelled = false;
  #failure: { readonly error: unknown } | null = null;

  /** @param readsMore called when reads become larger than the first */
  constructor(private readonly reader: ReadableStreamBYOBReader, private readonly readsMore: () => void) {
  }

  /** @throws ChunksTooSmall, or as the stream does */
  async read(): Promise<Uint8Array<ArrayBuffer> | null> {
    if (this.#lent) freeBlock(this.#lent.block);
    this.#lent = null;
    if (this.#blocks.length === 0 && !this.#ended) await this.#burst();
    this.#lent = this.#blocks.shift() ?? null;
    if (this.#lent) return this.#lent.block.subarray(0, this.#lent.length);
    if (this.#failure) throw this.#failure.error;
    return null;
  }

  cancel(): void {
    if (this.#cancelled) return;
    this.#cancelled = true;
    this.#ended = true;
    for (const { block } of this.#blocks.splice(0)) freeBlock(block);
    // Its consumer may still read it.
    if (this.#lent) usedBlocks--;
    this.#lent = null;
    releaseReader(this.reader);
  }

  async #burst(): Promise<void> {
    let reads = 0;
    let bytes = 0;
    let turn: Turn | null = null;
    try {
      let read: Read | null = await (this.#waiting ?? this.#request());
      this.#waiting = null;
      while (read && !read.done && !this.#ended) {
        this.#target = new Uint8Array(read.value.buffer);
        this.#store(read.value);
        reads++;
        bytes += read.value.length;
        if (reads >= MANY_READS && bytes < reads * LEAST_MEAN_BYTES) throw new ChunksTooSmall();
        if (bytes >= MOST_BURST_BYTES || usedBlocks >= MOST_BLOCKS) break;
        turn ??= new Turn();
        this.#waiting = this.#request();
        read = await turn.orBefore(this.#waiting);
        if (read) this.#waiting = null;
      }
      if (read?.done) this.#ended = true;
    } catch (error) {
      this.#ended = true;
      this.#failure = { error };
    } finally {
      turn?.forget();
    }
    if (this.#readBytes < MOST_READ_BYTES && reads >= DECIDING_READS && bytes >= reads * this.#readBytes / 2) {
      this.#readBytes *= 2;
      this.readsMore();
    }
  }

  #request(): Promise<Read> {
    if (this.#target.length < this.#readBytes) this.#target = new Uint8Array(this.#readBytes);
    return this.reader.read(this.#target);
  }

  #store(bytes: Uint8Array<ArrayBuffer>): void {
    for (let rest = bytes; rest.length > 0;) {
      let last = this.#blocks.at(-1);
      if (!last || last.length === last.block.length) {
        last = { block: takeBlock(), length: 0 };
        this.#blocks.push(last);
      }
      const taken = rest.subarray(0, last.block.length - last.length);
      last.block.set(taken, last.length);
      last.length += taken.length;
      rest = rest.subarray(taken.length);
    }
  }
}

/** Resolves when the event loop has turned. Not a `Promise.race`, which for each read costs as much as the read. */
class Turn {
  #come: (nothing: null) => void = () => {};
  readonly #timer = setTimeout(() => this.#come(null), 0);

  /** The result of a read that ends before; null when it does not. A later failure goes to the caller that awaits the read. */
  orBefore(read: Promise<Read>): Promise<Read | null> {
    return new Promise((resolve, reject) => {
      this.#come = resolve;
      read.then(resolve, reject);
    });
  }

  forget(): void {
    clearTimeout(this.#timer);
  }
}
