import type { BodyReader } from "./byte_reader.ts";
import { deadline } from "./deadline.ts";
import { Pace, STREAM_BOUNDS, type TimeBounds } from "./time_bounds.ts";

/** Whoever sends a body is silent for too long, or too slow. */
export class SlowBody extends Error {
  override readonly name = "SlowBody";
}

/** The same reader for a sender who may take no longer than the bounds say; a read that takes longer throws SlowBody. */
export function pacedReader(reader: BodyReader, bounds: TimeBounds = STREAM_BOUNDS): BodyReader {
  const pace = new Pace(bounds);
  return {
    async read() {
      let late = false;
      const from = performance.now();
      const heard = deadline(pace.patienceMs, () => {
        late = true;
        reader.cancel();
      });
      try {
        const bytes = await reader.read();
        if (!late) {
          pace.took(bytes?.length ?? 0, performance.now() - from);
          return bytes;
        }
      } catch (error) {
        if (!late) throw error;
      } finally {
        heard();
      }
      throw new SlowBody("the body took too long");
    },
    cancel: () => reader.cancel(),
  };
}
