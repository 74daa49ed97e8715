import type { BodyReader } from "./byte_reader.ts";
import { withDeadline } from "./deadline.ts";
import { Pace, STREAM_BOUNDS, type TimeBounds } from "./time_bounds.ts";

/** The sender of a body exceeds the idle timeout, is slower than the minimum rate, or exceeds the total deadline. */
export class SlowBody extends Error {
  override readonly name = "SlowBody";
}

/**
 * The same reader under an idle timeout and a minimum rate. A read that takes longer cancels the reader.
 *
 * @param slow the error that such a read throws; SlowBody when absent
 */
export function pacedReader(
  reader: BodyReader,
  bounds: TimeBounds = STREAM_BOUNDS,
  slow: (message: string) => Error = (message) => new SlowBody(message),
): BodyReader {
  const pace = new Pace(bounds);
  return {
    async read() {
      const from = performance.now();
      const { waitMs } = pace;
      const bytes = await withDeadline(waitMs, {
        work: () => reader.read(),
        cancel: () => reader.cancel(),
        late: () => slow(`nothing for ${Math.ceil(waitMs)} ms`),
      });
      pace.count(bytes?.length ?? 0, performance.now() - from);
      return bytes;
    },
    cancel: () => reader.cancel(),
  };
}
