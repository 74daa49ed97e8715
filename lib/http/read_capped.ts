import { deadline } from "./deadline.ts";
import type { UpstreamResponse } from "./upstream.ts";

/** However steadily a long body drips, all of it must have come in so many times the longest wait for a piece. */
const WHOLE_IN_STALLS = 5;

/** Bodies up to this many bytes are read at once. */
const SHORT_BYTES = 64 * 1024;

/** An upstream's body that is longer than its cap, or stalls. */
export class BodyLimitError extends Error {
  override readonly name = "BodyLimitError";
  /** Whether it came too slowly, and was not too long. */
  readonly isStall: boolean;

  constructor(message: string, isStall: boolean) {
    super(message);
    this.isStall = isStall;
  }
}

/**
 * Reads a whole body as text (UTF-8, malformed bytes replaced).
 *
 * @param capBytes most bytes that are taken; a longer body is cancelled
 * @param stallMs longest wait for a short body, and for the next piece of a longer one, which may take five times as long
 * @throws BodyLimitError above the cap or when it takes too long; whatever breaks the stream
 */
export async function readCapped(response: UpstreamResponse, capBytes: number, stallMs: number): Promise<string> {
  if (!response.body) return "";
  const announced = announcedLength(response.headers);
  if (announced > capBytes) {
    response.body.cancel().catch(() => {});
    throw new BodyLimitError(`more than ${capBytes} bytes`, false);
  }
  const { breakOff } = response;
  return announced <= SHORT_BYTES && breakOff
    ? await readAtOnce(response, breakOff, stallMs)
    : await readPieces(response.body, capBytes, stallMs);
}

/** For a short body each piece, its empty end included, would cost more than all the rest of reading it. */
async function readAtOnce(response: Response, breakOff: AbortController, stallMs: number): Promise<string> {
  let stalled = false;
  const over = deadline(stallMs, () => {
    stalled = true;
    breakOff.abort();
  });
  try {
    return await response.text();
  } catch (error) {
    throw stalled ? new BodyLimitError(`not whole after ${stallMs} ms`, true) : error;
  } finally {
    over();
  }
}

async function readPieces(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  capBytes: number,
  stallMs: number,
): Promise<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let length = 0;
  let text = "";
  let heard = performance.now();
  const end = heard + WHOLE_IN_STALLS * stallMs;
  let stalled = false;
  // One deadline for the whole body, which looks when the last piece came.
  const watch = () => {
    const left = heard + stallMs - performance.now();
    if (left > 0) over = deadline(left, watch);
    else {
      stalled = true;
      reader.cancel().catch(() => {});
    }
  };
  let over = deadline(stallMs, watch);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (stalled) throw new BodyLimitError(`nothing for ${stallMs} ms`, true);
      if (done) return text + decoder.decode();
      heard = performance.now();
      length += value.length;
      if (heard > end) throw new BodyLimitError(`not whole after ${WHOLE_IN_STALLS * stallMs} ms`, true);
      if (length > capBytes) throw new BodyLimitError(`more than ${capBytes} bytes`, false);
      text += decoder.decode(value, { stream: true });
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    throw error;
  } finally {
    over();
  }
}

/**
 * The bytes that a body will have, NaN where nobody knows: the length of an encoded one is not that of what is read, and
 * beside a transfer coding a length means nothing (RFC 9112, section 6.3).
 */
function announcedLength(headers: Headers): number {
  const isCoded = headers.has("content-encoding") || headers.has("transfer-encoding");
  return isCoded ? NaN : Number(headers.get("content-length") ?? NaN);
}
