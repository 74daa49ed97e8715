import { markReadAhead } from "@/lib/runtime/request_body.ts";
import { StreamOfLength } from "@/lib/runtime/stream_of_length.ts";
import { FREES_WRITTEN_CHUNKS } from "@/lib/runtime/written_chunks.ts";
import {
  type BodyReader,
  boundedReader,
  chunksReader,
  inBuffersMs,
  registerCancel,
  STREAM_BOUNDS,
  streamReader,
  type TimeBounds,
} from "@/lib/std/body_reader.ts";
import { deadline } from "@/lib/std/timing.ts";
import { unreadable } from "./body.ts";
import { HttpError } from "./errors.ts";
import { BrokenStream, guardedStream } from "./response_body.ts";

/** Largest chunk, bytes: larger ones are little cheaper, and each connection keeps a buffer of that size. */
const MAX_CHUNK_BYTES = 256 * 1024;

type Chunks = AsyncGenerator<Uint8Array<ArrayBuffer>>;

interface WatchedUploadOptions {
  readonly lengthBytes: number;
  /** How long the client and the upstream may take over the body; those of all streams when absent. */
  readonly bounds?: TimeBounds;
  /** How long the upstream may work before its response begins, once it has the body, ms. */
  readonly workMs: number;
  /** The error for an upstream that reads no more of the body, or does not respond to it. */
  readonly stalled: () => HttpError;
}

/** A body on its way to an upstream. */
export interface WatchedUpload {
  readonly body: StreamOfLength;
  /** Aborts when the upload has failed, since an upstream that reads nothing does not notice the end of its body. */
  readonly signal: AbortSignal;
  /** Why it has failed: the error of the body, else that of `stalled`; null when it has not. */
  failure(): HttpError | null;
  /** Whether the connection has taken all bytes. An upstream that confirms a body earlier has not stored it. */
  isWhole(): boolean;
  /** Ends the watch: there is a response, or there will be none. */
  release(): void;
}

/**
 * Passes a body on with its length. The upstream must read it within the idle timeout and at the minimum rate, and
 * respond in time after the last byte.
 *
 * @param body a request's body, whose client is watched likewise (408, 499), or chunks of this process, each of which
 *   may use the memory of the one before: the next is requested when the connection has taken it
 */
export function watchedUpload(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | Chunks,
  { lengthBytes, bounds = STREAM_BOUNDS, workMs, stalled }: WatchedUploadOptions,
): WatchedUpload {
  const reader = body instanceof ReadableStream ? clientReader(body, bounds) : chunksReader(body);
  const stop = new AbortController();
  let failure: HttpError | null = null;
  let isOver = false;
  let readBytes = 0;
  let release = () => {};
  const fail = (error: HttpError) => {
    if (isOver) return;
    isOver = true;
    failure = error;
    stop.abort();
  };
  const watched = {
    async read() {
      const chunk = await reader.read();
      if (chunk) readBytes += chunk.length;
      else if (!isOver) release = deadline(workMs + inBuffersMs(lengthBytes, bounds), () => fail(stalled()));
      return chunk;
    },
    cancel: () => reader.cancel(),
  };
  const stream = guardedStream(watched, {
    broken(error) {
      fail(error instanceof HttpError ? error : unreadable(error));
      return new BrokenStream("BrokenUpload", "an upload broke off");
    },
    bounds,
    unread: () => fail(stalled()),
  });
  return {
    body: new StreamOfLength(stream, lengthBytes),
    signal: stop.signal,
    failure: () => failure,
    isWhole: () => readBytes === lengthBytes,
    release() {
      isOver = true;
      release();
    },
  };
}

/** Reads a request's body. A chunk is valid until the next is read. */
function clientReader(body: ReadableStream<Uint8Array<ArrayBuffer>>, bounds: TimeBounds): BodyReader {
  const reader = streamReader(body, { mostBytes: MAX_CHUNK_BYTES, freesChunks: FREES_WRITTEN_CHUNKS });
  registerCancel(body, () => reader.cancel());
  markReadAhead(body);
  return boundedReader(reader, { bounds });
}
