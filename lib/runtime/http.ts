import {
  bodyOf,
  type BodyReader,
  byteReader,
  ChunksTooSmall,
  registerCancel,
  releaseReader,
  streamReader,
} from "@/lib/std/body_reader.ts";

/**
 * Whether this process keeps to the public API of the runtime: then each file of this folder does what it falls back to.
 * `tests/long/fallbacks_test.ts` runs tests of HTTP so.
 */
const PUBLIC_API_ONLY: boolean = Reflect.has(globalThis, Symbol.for("stackroom.public_api_only"));

type AcceptedConnection = Deno.TcpConn | Deno.TlsConn;

/** How the runtime calls what handles its requests. */
type RuntimeHandler = (request: Request, info: Deno.ServeHandlerInfo<Deno.NetAddr>) => Response | Promise<Response>;

/** HTTP on one connection. */
export interface ServedConnection {
  /** Resolves when the connection has ended, however it did. */
  readonly finished: Promise<void>;
  /** Ends the connection when the response under way is sent; a connection without a request ends at once. */
  shutdown(): Promise<void>;
  /** Breaks the connection off, and with it what is under way. */
  cut(): void;
}

/** Serves HTTP on a connection that was accepted. `onError` makes the response where a handler throws. */
export type ServeConnection = (
  connection: AcceptedConnection,
  handler: RuntimeHandler,
  onError: (error: unknown) => Response,
) => ServedConnection;

/** Stands for an AbortSignal: the function of the runtime only ever registers one listener. */
interface AbortTarget {
  addEventListener(type: "abort", onAbort: () => void): void;
}

type ServeHttpOnConnection = (
  connection: AcceptedConnection,
  signal: AbortTarget,
  handler: RuntimeHandler,
  onError: (error: unknown) => Response,
  onListen: () => void,
) => { readonly finished: Promise<void>; shutdown(): Promise<void> };

/**
 * The part of `Deno.serve` that serves HTTP on one connection, or null where this runtime has none.
 *
 * `Deno.serve` gives no access to its connections: it has no timeouts (denoland/deno#3515, #34172) and no limits. The
 * function that it runs for each of them is not public, but reachable; node:http's server, which has timeouts, would
 * cost two to three times the processor time. A test fails on a runtime without it; there `Deno.serve` does everything.
 */
export const serveConnection: ServeConnection | null = PUBLIC_API_ONLY ? null : connectionServer(runtimeInternals());

/** Creates a {@link ServeConnection} from the runtime's internals; null where they lack it. */
export function connectionServer(internals: unknown): ServeConnection | null {
  if (typeof internals !== "object" || internals === null || !("serveHttpOnConnection" in internals)) return null;
  const { serveHttpOnConnection } = internals;
  if (typeof serveHttpOnConnection !== "function" || serveHttpOnConnection.length !== 5) return null;
  const serve = serveHttpOnConnection as ServeHttpOnConnection;
  return function serveConnection(connection, handler, onError) {
    let abort = () => {};
    // Not an AbortController: aborting throws when the connection has just ended, and what a listener of an event throws
    // ends the process.
    const signal: AbortTarget = {
      addEventListener(_type, onAbort) {
        abort = onAbort;
      },
    };
    const { finished, shutdown } = serve(connection, signal, handler, onError, () => {});
    return {
      // A connection that its client breaks is no error of the server.
      finished: finished.catch(() => {}),
      shutdown: () => shutdown().catch(() => {}),
      cut() {
        try {
          abort();
        } catch (error) {
          if (!(error instanceof Deno.errors.BadResource)) throw error;
        }
      },
    };
  };
}

function runtimeInternals(): unknown {
  const key: unknown = Reflect.get(Deno, "internal");
  return typeof key === "symbol" ? Reflect.get(Deno, key) : null;
}

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
class BurstReader implements BodyReader {
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

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

/**
 * Size of a read of a body of known length, bytes, by how long it is: small reads leave the runtime's buffer as it is for
 * later requests, and reads larger than the largest are little faster.
 */
const READ_BYTES = [{ upToBytes: 16 * 1024, readBytes: 1024 }, { upToBytes: 64 * 1024, readBytes: MOST_READ_BYTES }];
const LONG_READ_BYTES = 16 * 1024;

const readAhead = new WeakSet<Body>();

/**
 * Whether the runtime may read far ahead of later bodies on the connection that a request came on. After one
 * large read it (Deno 2.9) takes as much off the connection at every read, whatever size the read requests. Such a
 * connection ends with the response. No issue is known upstream; hyperium/hyper#3133 is alike.
 */
export function leavesReadAhead(request: Request): boolean {
  const body = bodyOf(request);
  return body !== null && readAhead.has(body);
}

/** Records that the runtime reads a body ahead, like one that it passes on to another connection. */
export function markReadAhead(body: Body): void {
  readAhead.add(body);
}

/**
 * Takes the reader of a request's body. Without a length the body has chunks, which are read as {@link BurstReader} does.
 *
 * @param lengthBytes what the request says; null: nothing
 */
export function bodyReader(body: Body, lengthBytes: number | null): BodyReader {
  const reader = lengthBytes === null ? chunkedReader(body) : readerOfLength(body, lengthBytes);
  registerCancel(body, () => reader.cancel());
  return reader;
}

/** Without bursts, a body of chunks of 64 KiB takes 36 times the processor time, and 100 MiB. */
function chunkedReader(body: Body): BodyReader {
  const bytes = PUBLIC_API_ONLY ? null : byteReader(body);
  return bytes ? new BurstReader(bytes, () => markReadAhead(body)) : streamReader(body);
}

function readerOfLength(body: Body, lengthBytes: number): BodyReader {
  const short = READ_BYTES.find(({ upToBytes }) => lengthBytes <= upToBytes);
  if (!short) markReadAhead(body);
  const size = short?.readBytes ?? LONG_READ_BYTES;
  return streamReader(body, { firstBytes: size, mostBytes: size });
}

/**
 * A stream that says how long it is, as the body of a request. Of any other stream the runtime's `fetch` drops the
 * Content-Length (denoland/deno#24197), and sends it in chunks, which stores refuse; of a Blob it asks the size, and reads
 * the stream that the Blob gives, which no document promises. Through node:http, the way without, a HEAD beside an upload
 * has twice the p99 (424 ms for 225 on a busy machine), for about the same processor time.
 */
export class StreamOfLength extends Blob {
  readonly #stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly #lengthBytes: number;

  constructor(stream: ReadableStream<Uint8Array<ArrayBuffer>>, lengthBytes: number) {
    super();
    this.#stream = stream;
    this.#lengthBytes = lengthBytes;
  }

  override get size(): number {
    return this.#lengthBytes;
  }

  /** The stream itself: it can be read once. */
  override stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return this.#stream;
  }
}

/** Whether `fetch` sends such a body with its length. */
export const FETCHES_STREAM_OF_LENGTH: boolean = !PUBLIC_API_ONLY;

/**
 * Whether the memory of a chunk that was given to the runtime may be detached when the runtime asks for the next one.
 *
 * The runtime does not report when it has written a chunk. It holds the memory while it writes, even if the chunk is
 * detached; this is undocumented (denoland/deno#36128 speaks of it). Chunks that are left to the garbage collector
 * instead take 2.2 times the processor time in uploads and 4.3 times in downloads, and 30 to 40 MiB.
 */
export const FREES_WRITTEN_CHUNKS: boolean = !PUBLIC_API_ONLY;
