import { handedOn } from "@/lib/std/body_reader.ts";
import { readBy } from "@/lib/std/cancel_body.ts";
import { deadline } from "@/lib/std/deadline.ts";
import { SlowBody } from "@/lib/std/paced_reader.ts";
import { inBuffersMs, Pace, STREAM_BOUNDS, type TimeBounds } from "@/lib/std/time_bounds.ts";
import { unreadable } from "./body_source.ts";
import type { HttpError } from "./errors.ts";
import { BrokenStream, guardedStream, nextPiece } from "./guarded_stream.ts";
import { growingReader } from "./piece_reader.ts";
import { StreamOfLength } from "./stream_of_length.ts";

/** What is read of an upload at a time at most, bytes: larger pieces are little cheaper, and each connection keeps one. */
const MOST_PIECE_BYTES = 256 * 1024;

interface WatchedUploadOptions {
  readonly lengthBytes: number;
  /** How long the client and the upstream may take over the body; those of all streams when absent. */
  readonly bounds?: TimeBounds;
  /** How long the upstream may work before its answer begins, once it has the body, ms. */
  readonly workMs: number;
  /** The error for an upstream that takes no more of the body, or does not answer it. */
  readonly stalled: () => HttpError;
}

/** A request's body on its way to an upstream. */
export interface WatchedUpload {
  readonly body: StreamOfLength;
  /** Aborts when the upload has failed, since an upstream that takes nothing does not notice its body's end. */
  readonly signal: AbortSignal;
  /** Why it has failed: 408 or 499 for the client, else what `stalled` says; null when it has not. */
  failure(): HttpError | null;
  /** Called when there is an answer, or will be none. */
  over(): void;
}

/**
 * Hands a request's body on with its length, and watches both sides: the client must send, and the upstream take,
 * without long silence and at a least pace. A piece that the stream gives is valid until the next is read.
 */
export function watchedUpload(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  { lengthBytes, bounds = STREAM_BOUNDS, workMs, stalled }: WatchedUploadOptions,
): WatchedUpload {
  const reader = growingReader(body, MOST_PIECE_BYTES, true);
  readBy(body, () => reader.cancel().catch(() => {}));
  handedOn(body);
  const stop = new AbortController();
  const pace = new Pace(bounds);
  let failure: HttpError | null = null;
  let isOver = false;
  let answered = () => {};
  const fail = (error: HttpError) => {
    if (isOver) return;
    isOver = true;
    failure = error;
    stop.abort();
  };
  const next = async () => {
    const piece = await nextPiece(reader, pace, (message) => new SlowBody(message));
    if (piece === null && !isOver) {
      answered = deadline(workMs + inBuffersMs(lengthBytes, bounds), () => fail(stalled()));
    }
    return piece;
  };
  const broken = (error: unknown) => {
    fail(unreadable(error));
    return new BrokenStream("BrokenUpload", "an upload broke off");
  };
  const stream = guardedStream(reader, next, broken, { bounds, unread: () => fail(stalled()) });
  return {
    body: new StreamOfLength(stream, lengthBytes),
    signal: stop.signal,
    failure: () => failure,
    over() {
      isOver = true;
      answered();
    },
  };
}
