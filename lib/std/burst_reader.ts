import { BurstMemory } from "./burst_memory.ts";
import { sleep } from "./sleep.ts";
import { type BodyReader, giveUp } from "./byte_reader.ts";

/**
 * What is asked for at a time, bytes: little first, and twice as much where the chunks fill it, up to the most, beyond
 * which there is more to move than is saved.
 */
const FIRST_READ_BYTES = 1024;
export const MOST_READ_BYTES = 8 * 1024;
/** So many reads' worth of a burst tell whether the next ones ask for more. */
const TELLING_READS = 8;

/**
 * A burst ends here, though more may be there. The runtime reads ahead 128 times at most before the event loop turns
 * (tokio's cooperative budget): with the largest reads that is 1 MiB, so a burst leaves nothing behind that grows.
 */
const MOST_BURST_BYTES = 1024 * 1024;

/**
 * After a burst of so many bytes the next one waits. While there is always something to do, the runtime (tokio) looks
 * for other requests only after 61 polls of its tasks, which is up to 20 ms; when it waits for a timer, it looks at once.
 */
const LONG_BURST_BYTES = 256 * 1024;
const PAUSE_MS = 1;

/**
 * A burst of more reads must bring so many bytes with each. It cannot be left in the middle, and no other request is served
 * meanwhile: 8,192 of the smallest reads are some 50 ms. Chunks that are smaller only pass where their sender is slow.
 */
const MANY_READS = 8192;
const LEAST_MEAN_BYTES = 128;

/** The chunks of a body are so small that reading them would delay all other requests. */
export class ChunksTooSmall extends Error {
  override readonly name = "ChunksTooSmall";

  constructor() {
    super("the chunks are too small: send chunks of 1 KiB or more, or a Content-Length");
  }
}

type Read = ReadableStreamReadResult<Uint8Array<ArrayBuffer>>;
type Piece = { readonly block: Uint8Array<ArrayBuffer>; length: number };

/** Memory of all bodies that are read at present. */
const memory = new BurstMemory();

/**
 * Reads a chunked body in bursts: all that is there until a read has to wait, copied into memory of our own.
 *
 * With every read the runtime (Deno 2.9) first takes as much off the connection as it was ever asked for on it, answers
 * with no more than the rest of one chunk, keeps what is left, and moves all of that forward. Read as one needs it, a
 * body grows there with each end of a chunk, and each read moves more. But it takes something off the connection only so
 * often before the event loop turns, so reads that follow each other at once empty its buffer.
 */
export class BurstReader implements BodyReader {
  readonly #reader: ReadableStreamBYOBReader;
  readonly #readsMore: () => void;
  #target = new Uint8Array(FIRST_READ_BYTES);
  #readBytes = FIRST_READ_BYTES;
  /** A read that had to wait when the last burst ended. */
  #waiting: Promise<Read> | null = null;
  readonly #pieces: Piece[] = [];
  #given: Piece | null = null;
  #ended = false;
  #cancelled = false;
  /** Whether the last burst was a long one. */
  #isFast = false;
  #failure: { readonly error: unknown } | null = null;

  /** @param readsMore told when it asks for more at a time than at first */
  constructor(reader: ReadableStreamBYOBReader, readsMore: () => void) {
    this.#reader = reader;
    this.#readsMore = readsMore;
  }

  /** @throws ChunksTooSmall, or as the stream does */
  async read(): Promise<Uint8Array<ArrayBuffer> | null> {
    if (this.#given) memory.giveBack(this.#given.block);
    this.#given = null;
    if (this.#pieces.length === 0 && !this.#ended) {
      if (this.#isFast) await sleep(PAUSE_MS);
      await this.#burst();
    }
    this.#given = this.#pieces.shift() ?? null;
    if (this.#given) return this.#given.block.subarray(0, this.#given.length);
    if (this.#failure) throw this.#failure.error;
    return null;
  }

  cancel(): void {
    if (this.#cancelled) return;
    this.#cancelled = true;
    this.#ended = true;
    for (const { block } of this.#pieces.splice(0)) memory.giveBack(block);
    // Someone may still look at it.
    if (this.#given) memory.lose();
    this.#given = null;
    giveUp(this.#reader);
  }

  async #burst(): Promise<void> {
    let reads = 0;
    let bytes = 0;
    let turn: Turn | null = null;
    try {
      let read: Read | null = await (this.#waiting ?? this.#ask());
      this.#waiting = null;
      while (read && !read.done && !this.#ended) {
        this.#target = new Uint8Array(read.value.buffer);
        this.#keep(read.value);
        reads++;
        bytes += read.value.length;
        if (reads >= MANY_READS && bytes < reads * LEAST_MEAN_BYTES) throw new ChunksTooSmall();
        if (bytes >= MOST_BURST_BYTES || memory.isFull) break;
        turn ??= new Turn();
        this.#waiting = this.#ask();
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
    this.#isFast = bytes >= LONG_BURST_BYTES;
    if (this.#readBytes < MOST_READ_BYTES && reads >= TELLING_READS && bytes >= reads * this.#readBytes / 2) {
      this.#readBytes *= 2;
      this.#readsMore();
    }
  }

  #ask(): Promise<Read> {
    if (this.#target.length < this.#readBytes) this.#target = new Uint8Array(this.#readBytes);
    return this.#reader.read(this.#target);
  }

  #keep(bytes: Uint8Array<ArrayBuffer>): void {
    for (let rest = bytes; rest.length > 0;) {
      let last = this.#pieces.at(-1);
      if (!last || last.length === last.block.length) {
        last = { block: memory.take(), length: 0 };
        this.#pieces.push(last);
      }
      const taken = rest.subarray(0, last.block.length - last.length);
      last.block.set(taken, last.length);
      last.length += taken.length;
      rest = rest.subarray(taken.length);
    }
  }
}

/** Tells when the event loop has turned. By hand, since a `Promise.race` for each read costs as much as the read. */
class Turn {
  #come: (nothing: null) => void = () => {};
  readonly #timer = setTimeout(() => this.#come(null), 0);

  /** A read that ends before; null when it does not. Its failure may come later, and counts for who waits then. */
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
