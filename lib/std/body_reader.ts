type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

/** Reads a body. */
export interface BodyReader {
  /** The next bytes; null at the end. They are valid until the next read. */
  read(): Promise<Uint8Array<ArrayBuffer> | null>;
  /** Ends the reading: a pending read returns null. May be called at any time. */
  cancel(): void;
}

/** Takes the reader of a request's body. `lengthBytes` is the announced length; null where there is none. */
export type TakeReader = (body: Body, lengthBytes: number | null) => BodyReader;

interface ReadSizes {
  /** Size of the first read, bytes. Small, since the runtime zeroes the memory of each read. */
  readonly firstBytes?: number;
  /** Size of the largest read, bytes. */
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
 * Reads chunks whose size adapts to the sender: doubled after a full chunk, halved after a nearly empty one. Each chunk
 * has separate memory. A stream that is no byte stream is read chunk by chunk.
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
    // Does not wait: the pending chunk may never arrive.
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

/** A reader into given memory; null if the stream is no byte stream, like a body that arrived with its head. */
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

/** How to cancel bodies that have a reader. */
const readers = new WeakMap<Body, () => void>();

/** Registers how the reading of a body is cancelled, which only the holder of its reader can do. */
export function registerCancel(body: Body, cancel: () => void): void {
  readers.set(body, cancel);
}

/**
 * Cancels the unread rest of a request's body. Unread, it would block the client and its connection; the rest of a
 * cancelled body is received and dropped, so that the client reads the response. Ignores a body that was passed on to
 * another connection.
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

/** Limits of a body. */
interface ReadLimits {
  readonly maxBytes?: number;
  /** Longest time from the first read to the end of the body, ms. */
  readonly totalMs?: number;
  /** The idle timeout and the minimum rate; those of all streams when absent. */
  readonly bounds?: TimeBounds;
}

/** The sender of a body exceeds the idle timeout, is slower than the minimum rate, or exceeds the total deadline. */
export class SlowBody extends Error {
  override readonly name = "SlowBody";
}

/** A body is longer than its limit. */
export class BodyTooLong extends Error {
  override readonly name = "BodyTooLong";

  constructor(maxBytes: number) {
    super(`more than ${maxBytes} bytes`);
  }
}

/** The chunks of a body are so small that reading them would delay all other requests. */
export class ChunksTooSmall extends Error {
  override readonly name = "ChunksTooSmall";

  constructor() {
    super("the chunks are too small: send chunks of 1 KiB or more, or a Content-Length");
  }
}

/** The same reader within limits. A read that exceeds one throws BodyTooLong or SlowBody, and cancels the reader. */
export function boundedReader(
  reader: BodyReader,
  { maxBytes = Infinity, totalMs = Infinity, bounds = STREAM_BOUNDS }: ReadLimits = {},
): BodyReader {
  const pace = new Pace(bounds);
  let length = 0;
  let endsAt: number | null = null;
  const cancel = () => reader.cancel();
  return {
    async read() {
      const from = performance.now();
      endsAt ??= from + totalMs;
      const waitMs = Math.min(pace.waitMs, endsAt - from);
      const bytes = await withDeadline(waitMs, {
        work: () => reader.read(),
        cancel,
        late: () => new SlowBody(`nothing for ${Math.max(0, Math.ceil(waitMs))} ms`),
      });
      pace.count(bytes?.length ?? 0, performance.now() - from);
      length += bytes?.length ?? 0;
      if (length <= maxBytes) return bytes;
      cancel();
      throw new BodyTooLong(maxBytes);
    },
    cancel,
  };
}

/**
 * Reads all that a reader returns, and cancels it however the reading ends.
 *
 * @throws BodyTooLong, SlowBody, or what the reader throws
 */
export async function readWhole(reader: BodyReader, limits: ReadLimits): Promise<Uint8Array<ArrayBuffer>> {
  const bounded = boundedReader(reader, limits);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  try {
    for (let chunk; (chunk = await bounded.read());) chunks.push(chunk.slice());
  } finally {
    reader.cancel();
  }
  return chunks.length === 1 ? chunks[0] : joinedBytes(chunks);
}

/**
 * Reads the whole body of a request, which is empty when there is none. A body that is announced as too long is not read.
 *
 * @throws BodyTooLong, SlowBody, ChunksTooSmall, or what breaks the stream
 */
export async function readRequest(
  request: Request,
  limits: ReadLimits & { readonly maxBytes: number },
  takeReader: TakeReader,
): Promise<Uint8Array<ArrayBuffer>> {
  const length = announcedLength(request);
  if (length !== null && length > limits.maxBytes) throw new BodyTooLong(limits.maxBytes);
  return request.body ? await readWhole(takeReader(request.body, length), limits) : new Uint8Array(0);
}

/** Idle timeout of the sender or the reader of a body, ms. */
export const IDLE_MS = 60_000;
/**
 * Minimum rate of a body, bytes per second. Six parallel parts over 1 Mbit/s have 21 KiB/s each, which must be allowed.
 */
const MIN_BYTES_PER_SECOND = 16 * 1024;
/** Additional time for every body, ms. */
export const SLACK_MS = 60_000;
/** Total deadline of a short body (JSON, a form, a response in XML or JSON), ms. */
export const SHORT_BODY_MS = 30_000;

/** Time limits for the sender or the reader of a body. */
export interface TimeBounds {
  /** Idle timeout, ms. */
  readonly idleMs: number;
  readonly minBytesPerSecond: number;
  /** Additional time, ms. */
  readonly slackMs: number;
}

/** The time limits of every body that streams. */
export const STREAM_BOUNDS: TimeBounds = {
  idleMs: IDLE_MS,
  minBytesPerSecond: MIN_BYTES_PER_SECOND,
  slackMs: SLACK_MS,
};

/**
 * Bodies of known length up to this size, bytes, are passed on unwatched: their total deadline, 124 s, is little more than
 * the idle timeout, and that costs half as much.
 */
export const UNWATCHED_BYTES = 1024 * 1024;

/** Total deadline of a body of this length, ms. */
export function totalMs(lengthBytes: number, bounds: TimeBounds = STREAM_BOUNDS): number {
  return bounds.slackMs + lengthBytes / bounds.minBytesPerSecond * 1000;
}

/**
 * With a slow reader, a connection accepts more only when so many bytes fit: a third of its buffer (Linux: 4 MiB), and
 * the bytes that were read ahead.
 */
const TAKEN_AT_ONCE_BYTES = 2 * 1024 * 1024;
/** Most bytes of a body that are in buffers when the last byte was accepted. */
const IN_BUFFERS_BYTES = 5 * 1024 * 1024;

/** Longest time between two chunks of a reader at the minimum rate, ms. */
export function unreadMs({ idleMs, minBytesPerSecond }: TimeBounds = STREAM_BOUNDS): number {
  return idleMs + TAKEN_AT_ONCE_BYTES / minBytesPerSecond * 1000;
}

/** Time for a body of this length to arrive after its last byte was accepted, ms. */
export function inBuffersMs(lengthBytes: number, bounds: TimeBounds = STREAM_BOUNDS): number {
  return totalMs(Math.min(lengthBytes, IN_BUFFERS_BYTES), bounds);
}

/**
 * Measures the rate of one body. Only the time spent waiting for its sender counts.
 */
export class Pace {
  #bytes = 0;
  #waitedMs = 0;

  constructor(private readonly bounds: TimeBounds = STREAM_BOUNDS) {
  }

  /** Timeout of the next read, ms; at most 0 when the body is too slow. */
  get waitMs(): number {
    return Math.min(this.bounds.idleMs, totalMs(this.#bytes, this.bounds) - this.#waitedMs);
  }

  /** Counts bytes that came, and how long they were waited for. */
  count(bytes: number, waitedMs: number): void {
    this.#bytes += bytes;
    this.#waitedMs += waitedMs;
  }
}

/** Concatenates bytes. */
export function joinedBytes(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** Latest delay of a deadline, ms. */
const TICK_MS = 50;

interface Deadline {
  /** The time when it is due, by `performance.now`, ms. */
  readonly at: number;
  readonly onTime: () => void;
  /** Its index in {@link waiting}; -1 when it is due or cancelled. */
  index: number;
}

/**
 * Pending deadlines, in no order. Not a Set, which replaces its hash table as entries come and go: each table refers to the
 * next, so one in V8's old generation retains all later ones, and the objects of their callbacks, until the next full
 * collection.
 */
const waiting: Deadline[] = [];
let timer: ReturnType<typeof setTimeout> | null = null;

/**
 * Calls back once so much time has passed, or up to {@link TICK_MS} later. All deadlines share one timer: nearly all are
 * cancelled, and a timer for each costs more than an entry in a list.
 *
 * @param ms from `now` on, by `performance.now`; a caller that knows it saves a look at the clock
 * @returns a function that cancels it; the timer alone does not keep the process alive
 */
export function deadline(ms: number, onTime: () => void, now: number = performance.now()): () => void {
  const entry = { at: now + ms, onTime, index: waiting.length };
  if (timer === null) timer = setTimeout(tick, TICK_MS);
  else if (waiting.length === 0) timer.ref();
  waiting.push(entry);
  return function cancelDeadline() {
    if (remove(entry) && waiting.length === 0) timer?.unref();
  };
}

function tick(): void {
  // Set first: if a callback throws, the others are called with the next tick.
  timer = waiting.length > 0 ? setTimeout(tick, TICK_MS) : null;
  const now = performance.now();
  for (const entry of waiting.filter(({ at }) => at <= now)) if (remove(entry)) entry.onTime();
  if (waiting.length === 0) timer?.unref();
}

/** The last one takes its index. @returns whether it was still waiting */
function remove(entry: Deadline): boolean {
  const { index } = entry;
  if (index < 0) return false;
  entry.index = -1;
  const last = waiting.pop();
  if (last && last !== entry) {
    waiting[index] = last;
    last.index = index;
  }
  return true;
}

/**
 * Waits for work with a timeout.
 *
 * @param cancel must end the work; called at the timeout
 * @returns the result of the work
 * @throws the error of `late` after the timeout; else that of the work
 */
export async function withDeadline<T>(
  ms: number,
  { work, cancel, late }: { work: () => Promise<T>; cancel: () => void; late: () => Error },
): Promise<T> {
  let isLate = false;
  const release = deadline(ms, () => {
    isLate = true;
    cancel();
  });
  try {
    const result = await work();
    if (!isLate) return result;
  } catch (error) {
    if (!isLate) throw error;
  } finally {
    release();
  }
  throw late();
}

/**
 * Waits for work up to a timeout. Late work continues.
 *
 * @returns whether the work has ended, successfully or not
 */
export function endsWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = deadline(ms, () => resolve(false));
    const end = () => {
      cancel();
      resolve(true);
    };
    work.then(end, end);
  });
}
