/** However steadily a body drips, all of it must have come in so many times the longest wait for a piece. */
const WHOLE_IN_STALLS = 5;

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
  const reader = response.body.getReader();
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
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
