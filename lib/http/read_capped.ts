/** However steadily a body drips, all of it must have come in so many times the longest wait for a piece. */
const WHOLE_IN_STALLS = 5;

/** Bodies up to this many bytes are read into a buffer of their own length. */
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
 * @param stallMs longest wait for the next piece; the whole may take five times as long
 * @throws BodyLimitError above the cap or when it takes too long; whatever breaks the stream
 */
export async function readCapped(response: Response, capBytes: number, stallMs: number): Promise<string> {
  if (!response.body) return "";
  const announced = announcedLength(response.headers);
  const reader = pieces(response.body, announced);
  const decoder = new TextDecoder();
  let length = 0;
  let text = "";
  let heard = performance.now();
  const deadline = heard + WHOLE_IN_STALLS * stallMs;
  let stalled = false;
  // One timer for the whole body, which looks when the last piece came: one for each piece costs more than the piece.
  const watch = () => {
    const left = heard + stallMs - performance.now();
    if (left > 0) timer = setTimeout(watch, left);
    else {
      stalled = true;
      reader.cancel().catch(() => {});
    }
  };
  let timer = setTimeout(watch, stallMs);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (stalled) throw new BodyLimitError(`nothing for ${stallMs} ms`, true);
      if (done) return text + decoder.decode();
      heard = performance.now();
      length += value.length;
      if (heard > deadline) throw new BodyLimitError(`not whole after ${WHOLE_IN_STALLS * stallMs} ms`, true);
      if (length > capBytes) throw new BodyLimitError(`more than ${capBytes} bytes`, false);
      text += decoder.decode(value, { stream: true });
      if (length === announced) {
        // Waiting for the end as well would cost another turn.
        reader.cancel().catch(() => {});
        return text + decoder.decode();
      }
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

interface Pieces {
  read(): Promise<ReadableStreamReadResult<Uint8Array>>;
  cancel(): Promise<void>;
}

/**
 * Reads a body. The runtime makes a buffer of 64 KiB for every piece, the last empty one included, which for a record of
 * a few hundred bytes costs more than all the rest of reading it: where the length is known and short, ours is taken.
 */
function pieces(body: ReadableStream<Uint8Array<ArrayBuffer>>, length: number): Pieces {
  if (!(length > 0 && length <= SHORT_BYTES)) return body.getReader();
  const reader = byteReader(body);
  if (!reader) return body.getReader();
  let buffer = new ArrayBuffer(length);
  return {
    async read() {
      const { done, value } = await reader.read(new Uint8Array(buffer));
      if (done || !value) return { done: true, value: undefined };
      // The next piece goes into the same bytes: whoever reads is done with one before asking for the next.
      buffer = value.buffer;
      return { done, value };
    },
    cancel: () => reader.cancel(),
  };
}

/** Null for streams that cannot read into a given buffer: those made in this process. */
function byteReader(body: ReadableStream<Uint8Array<ArrayBuffer>>): ReadableStreamBYOBReader | null {
  try {
    return body.getReader({ mode: "byob" });
  } catch {
    return null;
  }
}

/** The bytes that a body will have, NaN where nobody knows: the length of an encoded one is not that of what is read. */
function announcedLength(headers: Headers): number {
  return headers.has("content-encoding") ? NaN : Number(headers.get("content-length") ?? NaN);
}
