import { FREES_WRITTEN_CHUNKS } from "@/lib/runtime/written_chunks.ts";
import {
  announcedLength,
  type BodyReader,
  BodyTooLong,
  boundedReader,
  readWhole,
  SHORT_BODY_MS,
  SlowBody,
  STREAM_BOUNDS,
  streamReader,
  type TimeBounds,
  unreadMs,
  UNWATCHED_BYTES,
} from "@/lib/std/body_reader.ts";
import { deadline, withDeadline } from "@/lib/std/timing.ts";
import type { RequestContext, RequestInfo } from "./request_context.ts";

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

/**
 * The body of an upstream's response as a client gets it, bounded in time: when the upstream or the client takes too
 * long, both connections are broken off, so that a part is not taken for the whole.
 *
 * A short body of known length is passed on untouched where the server can break off its connection: it does that when
 * the response has not been sent in the time that its length allows. Without a connection the caller is another role of
 * this process, which watches the body itself.
 */
export function boundedBody(
  response: Response,
  info: RequestInfo | undefined,
  bounds: TimeBounds = STREAM_BOUNDS,
): Body | null {
  const { body } = response;
  if (!body || !info?.completed) return body;
  const lengthBytes = announcedLength(response);
  if (info.breakOff && lengthBytes !== null && lengthBytes <= UNWATCHED_BYTES) return body;
  return guardedBody(body, { bounds, unread: () => info.breakOff?.(), freesChunks: true });
}

/** Whether the memory of a chunk of a response may be freed with the next one: the runtime writes it to a connection. */
export function freesWrittenChunks(info: RequestInfo | undefined): boolean {
  return FREES_WRITTEN_CHUNKS && info?.completed !== undefined;
}

interface GuardedBodyOptions extends Omit<GuardOptions, "what"> {
  /** Whether the runtime writes the body to a connection, so that the memory of a chunk is freed with the next one. */
  readonly freesChunks?: boolean;
}

/** Passes an upstream's body on chunk by chunk, as {@link guardedStream} does. */
export function guardedBody(body: Body, { freesChunks = false, ...options }: GuardedBodyOptions): Body {
  const reader = streamReader(body, { freesChunks: freesChunks && FREES_WRITTEN_CHUNKS });
  return guardedStream(boundedReader(reader, { bounds: options.bounds }), { what: "a response", ...options });
}

interface GuardOptions {
  /** The subject of the stream's error, such as `an upload`. */
  readonly what: string;
  /** Called with the reason when `read` throws. */
  readonly broken?: (error: unknown) => void;
  /** Called when the consumer reads nothing more, after the stream has failed: its connection must be ended. */
  readonly unread?: () => void;
  /** Time limits for the consumer; {@link STREAM_BOUNDS} when absent. */
  readonly bounds?: TimeBounds;
}

/**
 * Passes a body on chunk by chunk, as its consumer reads. When `read` throws, the stream fails, so that a part is not
 * taken for the whole. When the consumer cancels, or reads nothing for too long, the reader is cancelled.
 */
export function guardedStream(
  reader: BodyReader,
  { what, broken, unread, bounds = STREAM_BOUNDS }: GuardOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const maxUnreadMs = unreadMs(bounds);
  let isOver = false;
  let release = () => {};
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      release();
      try {
        const chunk = await reader.read();
        if (isOver) return;
        if (chunk === null) return controller.close();
        controller.enqueue(chunk);
        release = deadline(maxUnreadMs, () => {
          isOver = true;
          controller.error(new BrokenStream(`${what} was not read`));
          reader.cancel();
          unread?.();
        });
      } catch (error) {
        if (isOver) return;
        broken?.(error);
        controller.error(new BrokenStream(`${what} broke off`));
        reader.cancel();
      }
    },
    cancel() {
      isOver = true;
      release();
      reader.cancel();
    },
  }, { highWaterMark: 0 });
}

/** The error of a failed stream. The server prints it, so it says nothing about the upstream, on one line. */
class BrokenStream extends Error {
  override readonly name = "BrokenStream";
  override readonly stack = `${this.name}: ${this.message}`;
}

/**
 * A body that is generated while it is read. Awaits the first chunks, so that their errors become an error response; a later
 * error breaks the connection off.
 *
 * @param what the subject of the error, such as `a report`
 * @throws what `chunks` throws before anything is sent
 */
export async function streamedText(
  chunks: AsyncGenerator<string>,
  what: string,
  context: RequestContext,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const encoder = new TextEncoder();
  const next = async () => {
    const { done, value } = await chunks.next();
    return done ? null : encoder.encode(value);
  };
  const ahead = [await next(), await next()];
  const reader: BodyReader = {
    async read() {
      for (;;) {
        const chunk = ahead.length > 0 ? ahead.shift() ?? null : await next();
        if (chunk === null || chunk.length > 0) return chunk;
      }
    },
    cancel: () => void chunks.return(undefined),
  };
  return guardedStream(reader, { what, unread: () => context.info?.breakOff?.() });
}

/** A response whose body is still coming. */
export interface UpstreamResponse extends Response {
  /** Breaks the body off, also while it is read. Absent where cancelling the body is the only way. */
  breakOff?: AbortController;
}

/** Reads a whole body as text (UTF-8, malformed bytes replaced). @throws as {@link readCappedBytes} */
export async function readCapped(
  response: UpstreamResponse,
  capBytes: number,
  totalMs: number = SHORT_BODY_MS,
): Promise<string> {
  return new TextDecoder().decode(await readCappedBytes(response, capBytes, totalMs));
}

/**
 * Reads a whole body.
 *
 * @param capBytes most bytes that are taken; a longer body is cancelled
 * @param totalMs total deadline of the body
 * @throws BodyTooLong, SlowBody, or what breaks the stream
 */
export async function readCappedBytes(
  response: UpstreamResponse,
  capBytes: number,
  totalMs: number = SHORT_BODY_MS,
): Promise<Uint8Array<ArrayBuffer>> {
  if (!response.body) return new Uint8Array(0);
  // The announced length of an encoded body is not that of what is read.
  const announced = response.headers.has("content-encoding") ? null : announcedLength(response);
  if (announced !== null && announced > capBytes) {
    response.body.cancel().catch(() => {});
    throw new BodyTooLong(capBytes);
  }
  const { breakOff } = response;
  // Read in one call: in a short body, each chunk would cost more than all the rest. A long one would take its length three
  // times outside of V8's heap (chunks, copies, the whole), and V8 would collect all of its memory every few bodies.
  if (announced !== null && breakOff) {
    return await withDeadline(totalMs, {
      work: () => response.bytes(),
      cancel: () => breakOff.abort(),
      late: () => new SlowBody(`not whole after ${totalMs} ms`),
    });
  }
  return await readWhole(streamReader(response.body), { maxBytes: capBytes, totalMs });
}
