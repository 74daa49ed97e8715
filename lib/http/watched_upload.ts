import { handedOn } from "@/lib/std/body_reader.ts";
import { readBy } from "@/lib/std/cancel_body.ts";
import { deadline } from "@/lib/std/deadline.ts";
import { pacedReader } from "@/lib/std/paced_reader.ts";
import { inBuffersMs, STREAM_BOUNDS, type TimeBounds } from "@/lib/std/time_bounds.ts";
import { unreadable } from "./body_source.ts";
import type { HttpError } from "./errors.ts";
import { growingReader } from "./growing_reader.ts";
import { BrokenStream, guardedStream } from "./guarded_stream.ts";
import { StreamOfLength } from "./stream_of_length.ts";

/** Largest chunk, bytes: larger ones are little cheaper, and each connection keeps a buffer of that size. */
const MAX_CHUNK_BYTES = 256 * 1024;

interface WatchedUploadOptions {
  readonly lengthBytes: number;
  /** How long the client and the upstream may take over the body; those of all streams when absent. */
  readonly bounds?: TimeBounds;
  /** How long the upstream may work before its response begins, once it has the body, ms. */
  readonly workMs: number;
  /** The error for an upstream that reads no more of the body, or does not respond to it. */
  readonly stalled: () => HttpError;
}

/** A request's body on its way to an upstream. */
interface WatchedUpload {
  readonly body: StreamOfLength;
  /** Aborts when the upload has failed, since an upstream that reads nothing does not notice the end of its body. */
  readonly signal: AbortSignal;
  /** Why it has failed: 408 or 499 for the client, else the error of `stalled`; null when it has not. */
  failure(): HttpError | null;
  /** Called when there is a response, or there will be none. */
  over(): void;
}

/**
 * Passes a request's body on with its length, and watches both sides: the client must send, and the upstream read,
 * within the idle timeout and at the minimum rate. A chunk of the stream is valid until the next is read.
 */
export function watchedUpload(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  { lengthBytes, bounds = STREAM_BOUNDS, workMs, stalled }: WatchedUploadOptions,
): WatchedUpload {
  const reader = growingReader(body, { maxChunkBytes: MAX_CHUNK_BYTES, freesChunks: true });
  readBy(body, () => reader.cancel());
  handedOn(body);
  const paced = pacedReader(reader, bounds);
  const stop = new AbortController();
  let failure: HttpError | null = null;
  let isOver = false;
  let release = () => {};
  const fail = (error: HttpError) => {
    if (isOver) return;
    isOver = true;
    failure = error;
    stop.abort();
  };
  const watched = {
    async read() {
      const chunk = await paced.read();
      if (chunk === null && !isOver) {
        release = deadline(workMs + inBuffersMs(lengthBytes, bounds), () => fail(stalled()));
      }
      return chunk;
    },
    cancel: () => paced.cancel(),
  };
  const stream = guardedStream(watched, {
    broken(error) {
      fail(unreadable(error));
      return new BrokenStream("BrokenUpload", "an upload broke off");
    },
    bounds,
    unread: () => fail(stalled()),
  });
  return {
    body: new StreamOfLength(stream, lengthBytes),
    signal: stop.signal,
    failure: () => failure,
    over() {
      isOver = true;
      release();
    },
  };
}
