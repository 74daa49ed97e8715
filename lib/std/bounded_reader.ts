import type { BodyReader } from "./body_reader.ts";
import { withDeadline } from "./deadline.ts";
import { joinedBytes } from "./joined_bytes.ts";
import { Pace, STREAM_BOUNDS, type TimeBounds } from "./time_bounds.ts";

/** What a body may take. */
export interface ReadLimits {
  readonly maxBytes?: number;
  /** From the first read to the end of the body, ms. */
  readonly totalMs?: number;
  /** The idle timeout and the minimum rate; those of all streams when absent. */
  readonly bounds?: TimeBounds;
}

/** The sender of a body exceeds the idle timeout, is slower than the minimum rate, or exceeds the total deadline. */
export class SlowBody extends Error {
  override readonly name = "SlowBody";
}

/** A body is longer than its limit. */
export class BodyTooLong extends Error {
  override readonly name = "BodyTooLong";

  constructor(maxBytes: number) {
    super(`more than ${maxBytes} bytes`);
  }
}

/** The same reader within limits. A read that exceeds one throws BodyTooLong or SlowBody, and cancels the reader. */
export function boundedReader(
  reader: BodyReader,
  { maxBytes = Infinity, totalMs = Infinity, bounds = STREAM_BOUNDS }: ReadLimits = {},
): BodyReader {
  const pace = new Pace(bounds);
  let length = 0;
  let endsAt: number | null = null;
  const cancel = () => reader.cancel();
  return {
    async read() {
      const from = performance.now();
      endsAt ??= from + totalMs;
      const waitMs = Math.min(pace.waitMs, endsAt - from);
      const bytes = await withDeadline(waitMs, {
        work: () => reader.read(),
        cancel,
        late: () => new SlowBody(`nothing for ${Math.max(0, Math.ceil(waitMs))} ms`),
      });
      pace.count(bytes?.length ?? 0, performance.now() - from);
      length += bytes?.length ?? 0;
      if (length <= maxBytes) return bytes;
      cancel();
      throw new BodyTooLong(maxBytes);
    },
    cancel,
  };
}

/**
 * Reads all that a reader returns, and cancels it however the reading ends.
 *
 * @throws BodyTooLong, SlowBody, or what the reader throws
 */
export async function readWhole(reader: BodyReader, limits: ReadLimits): Promise<Uint8Array<ArrayBuffer>> {
  const bounded = boundedReader(reader, limits);
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  try {
    for (let chunk; (chunk = await bounded.read());) chunks.push(chunk.slice());
  } finally {
    reader.cancel();
  }
  return chunks.length === 1 ? chunks[0] : joinedBytes(chunks);
}
