type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

/** Reads a body. */
export interface BodyReader {
  /** The next bytes; null at the end. They are valid until the next read. */
  read(): Promise<Uint8Array<ArrayBuffer> | null>;
  /** Ends the reading: a pending read returns null. May be called at any time. */
  cancel(): void;
}

interface ReadSizes {
  /** Size of the first read, bytes. A slow sender fills less, and the memory of a read is zeroed whole. */
  readonly firstBytes?: number;
  /** Of the largest, bytes. */
  readonly mostBytes?: number;
  /**
   * Whether the memory of a chunk is freed when the next is read. Left to the garbage collector, the memory of a long body
   * makes V8 mark the whole heap again and again, which costs more than all the rest.
   */
  readonly freesChunks?: boolean;
}

const FIRST_BYTES = 16 * 1024;
/** The runtime's client returns about as much at once. */
const MOST_BYTES = 512 * 1024;

/**
 * Reads chunks that are as large as the sender is fast: twice as large when they come full, half when they come nearly
 * empty. Each has memory of its own. A stream of another kind than bytes is read by the chunks that it has.
 */
export function streamReader(
  body: Body,
  { firstBytes = FIRST_BYTES, mostBytes = MOST_BYTES, freesChunks = false }: ReadSizes = {},
): BodyReader {
  const bytes = byteReader(body);
  const reader = bytes ?? body.getReader();
  const next = bytes
    ? () => bytes.read(new Uint8Array(size))
    : () => (reader as ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>).read();
  let size = firstBytes;
  let last: ArrayBuffer | null = null;
  let isOver = false;
  return {
    async read() {
      last?.transfer(0);
      last = null;
      if (isOver) return null;
      const { done, value } = await next();
      isOver ||= done;
      if (done) return null;
      if (freesChunks && bytes) last = value.buffer;
      if (value.length === size) size = Math.min(size * 2, mostBytes);
      else if (value.length < size / 4) size = Math.max(size / 2, firstBytes);
      return value;
    },
    cancel() {
      if (!isOver) releaseReader(reader);
      isOver = true;
    },
  };
}

/** Reads chunks of this process. */
export function chunksReader(chunks: AsyncIterable<Uint8Array<ArrayBuffer>>): BodyReader {
  const iterator = chunks[Symbol.asyncIterator]();
  return {
    async read() {
      const { done, value } = await iterator.next();
      return done ? null : value;
    },
    // Does not wait: the chunk that is being read may never come.
    cancel: () => void iterator.return?.()?.catch(() => {}),
  };
}

/** The same reader, cancelled when a signal aborts. */
export function endedBy(signal: AbortSignal, reader: BodyReader): BodyReader {
  const cancel = () => {
    signal.removeEventListener("abort", cancel);
    reader.cancel();
  };
  if (signal.aborted) cancel();
  else signal.addEventListener("abort", cancel);
  return { read: () => reader.read(), cancel };
}

/** A reader into given memory; null for a stream of another kind, as a body that came with its head has. */
export function byteReader(body: Body): ReadableStreamBYOBReader | null {
  try {
    return body.getReader({ mode: "byob" });
  } catch (error) {
    if (error instanceof TypeError && !body.locked) return null;
    throw error;
  }
}

/** Cancels a stream, pending reads included, and releases its lock. */
export function releaseReader(reader: ReadableStreamDefaultReader<unknown> | ReadableStreamBYOBReader): void {
  reader.cancel().catch(() => {});
  reader.releaseLock();
}

/**
 * The Content-Length of a request or response; null where it is absent or no number, or a transfer coding voids it (RFC
 * 9112, section 6.3).
 */
export function announcedLength({ headers }: { readonly headers: Headers }): number | null {
  const text = headers.get("content-length");
  return text !== null && /^\d{1,15}$/.test(text) && !headers.has("transfer-encoding") ? Number(text) : null;
}

/** Cancels the reading of a body, by body, where it has a reader. */
const readers = new WeakMap<Body, () => void>();

/** Registers how the reading of a body is cancelled, which only the holder of its reader can do. */
export function registerCancel(body: Body, cancel: () => void): void {
  readers.set(body, cancel);
}

/**
 * Cancels what has not been read of a request's body. While it waits to be read the client hangs, and its connection is
 * never free; the rest of a cancelled body is received and dropped, so that the client reads the response. A body that was
 * passed on to another connection is left to that one.
 */
export function cancelBody(request: Request): void {
  const body = bodyOf(request);
  if (!body) return;
  const cancel = readers.get(body);
  if (cancel) cancel();
  else if (!body.locked) body.cancel().catch(() => {});
}

/** The body of a request whose client may be gone; null without one. */
export function bodyOf(request: Request): Body | null {
  try {
    return request.body;
  } catch {
    return null;
  }
}

/** Responds to a request and then cancels its body, so that no handler has to. */
export async function thenCancelBody(request: Request, respond: () => Response | Promise<Response>): Promise<Response> {
  try {
    return await respond();
  } finally {
    cancelBody(request);
  }
}
