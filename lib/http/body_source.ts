import { deadline } from "./deadline.ts";
import { clientClosedRequest, requestTimeout } from "./errors.ts";

/** How long a client may stay silent in the middle of a body, ms. */
const SILENCE_MS = 60_000;

/** Bytes in the order they come. */
export interface BodySource {
  /** The next bytes, at most `maxBytes` and at least one; null at the end. @throws HttpError when the rest will not come */
  read(maxBytes: number): Promise<Uint8Array<ArrayBuffer> | null>;
  /** Takes no more: what waits for bytes gets none. */
  stop(): void;
}

/**
 * A request's body as a source. It reads with a reader of its own, since a client that goes away in the middle of a
 * body must become an error of this request and of nothing else.
 *
 * `read` throws HttpError 499 when the client is gone and 408 after a minute of silence.
 */
export function bodySource(
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
  silenceMs: number = SILENCE_MS,
): BodySource {
  const reader = body?.getReader();
  let left: Uint8Array<ArrayBuffer> = new Uint8Array(0);
  const stop = () => void reader?.cancel().catch(() => {});
  return {
    async read(maxBytes) {
      while (left.length === 0) {
        const next = reader && await beforeSilence(reader, silenceMs);
        if (!next) return null;
        left = next;
      }
      const taken = left.subarray(0, maxBytes);
      left = left.subarray(taken.length);
      return taken;
    },
    stop,
  };
}

async function beforeSilence(
  reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>,
  silenceMs: number,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  let silent = false;
  const heard = deadline(silenceMs, () => {
    silent = true;
    reader.cancel().catch(() => {});
  });
  try {
    const { value } = await reader.read();
    if (silent) throw requestTimeout();
    return value;
  } catch (error) {
    if (silent) throw requestTimeout();
    throw clientClosedRequest(error);
  } finally {
    heard();
  }
}
