/** However steadily a body drips, all of it must have come in so many times the longest wait for a piece. */
const WHOLE_IN_STALLS = 5;

/** An upstream's body that is longer than its cap, or stalls. */
export class BodyLimitError extends Error {
  override readonly name = "BodyLimitError";
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
  const deadline = performance.now() + WHOLE_IN_STALLS * stallMs;
  try {
    for (;;) {
      const { done, value } = await beforeStall(reader.read(), stallMs);
      if (done) return text + decoder.decode();
      length += value.length;
      if (performance.now() > deadline) throw new BodyLimitError(`not whole after ${WHOLE_IN_STALLS * stallMs} ms`);
      if (length > capBytes) throw new BodyLimitError(`more than ${capBytes} bytes`);
      text += decoder.decode(value, { stream: true });
    }
  } catch (error) {
    reader.cancel().catch(() => {});
    throw error;
  }
}

function beforeStall<T>(read: Promise<T>, stallMs: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stall = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new BodyLimitError(`nothing for ${stallMs} ms`)), stallMs);
  });
  return Promise.race([read, stall]).finally(() => clearTimeout(timer));
}
