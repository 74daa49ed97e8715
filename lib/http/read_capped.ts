import { deadline } from "@/lib/std/deadline.ts";
import { SHORT_BODY_MS } from "@/lib/std/time_bounds.ts";

/** A response whose body is still coming. */
export interface UpstreamResponse extends Response {
  /** Breaks the body off, also in the middle of `text()`. Absent where cancelling the body is the only way. */
  breakOff?: AbortController;
}

/** Bodies up to this many bytes are read at once. */
const SHORT_BYTES = 64 * 1024;

/** An upstream's body that is longer than its cap, or takes too long. */
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
 * @param totalMs longest way of the whole body, however steadily it drips
 * @throws BodyLimitError above the cap or when it takes too long; whatever breaks the stream
 */
export async function readCapped(
  response: UpstreamResponse,
  capBytes: number,
  totalMs: number = SHORT_BODY_MS,
): Promise<string> {
  if (!response.body) return "";
  const announced = announcedLength(response.headers);
  if (announced > capBytes) {
    response.body.cancel().catch(() => {});
    throw new BodyLimitError(`more than ${capBytes} bytes`, false);
  }
  const { breakOff } = response;
  return announced <= SHORT_BYTES && breakOff
    ? await readAtOnce(response, breakOff, totalMs)
    : await readPieces(response.body, capBytes, totalMs);
}

/** For a short body each piece, its empty end included, would cost more than all the rest of reading it. */
async function readAtOnce(response: Response, breakOff: AbortController, totalMs: number): Promise<string> {
  let late = false;
  const inTime = deadline(totalMs, () => {
    late = true;
    breakOff.abort();
  });
  try {
    return await response.text();
  } catch (error) {
    throw late ? notWhole(totalMs) : error;
  } finally {
    inTime();
  }
}

async function readPieces(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  capBytes: number,
  totalMs: number,
): Promise<string> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let length = 0;
  let text = "";
  let late = false;
  const inTime = deadline(totalMs, () => {
    late = true;
    reader.cancel().catch(() => {});
  });
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (late) throw notWhole(totalMs);
      if (done) return text + decoder.decode();
      length += value.length;
      if (length > capBytes) throw new BodyLimitError(`more than ${capBytes} bytes`, false);
      text += decoder.decode(value, { stream: true });
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    throw error;
  } finally {
    inTime();
  }
}

function notWhole(totalMs: number): BodyLimitError {
  return new BodyLimitError(`not whole after ${totalMs} ms`, true);
}

/**
 * The bytes that a body will have, NaN where nobody knows: the length of an encoded one is not that of what is read, and
 * beside a transfer coding a length means nothing (RFC 9112, section 6.3).
 */
function announcedLength(headers: Headers): number {
  const isCoded = headers.has("content-encoding") || headers.has("transfer-encoding");
  return isCoded ? NaN : Number(headers.get("content-length") ?? NaN);
}
