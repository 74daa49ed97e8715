import type { BodyReader } from "@/lib/std/body_reader.ts";
import { BrokenStream, guardedStream } from "./guarded_stream.ts";
import type { RequestContext } from "./request_context.ts";

/**
 * A body that is written while it is read. The first chunks are awaited, so that what is wrong with them can still be said
 * by a status; what breaks off later breaks the connection.
 *
 * @param what in the message of the break, such as `a report`
 * @throws what `chunks` throws before anything is sent
 */
export async function streamedText(
  chunks: AsyncGenerator<string>,
  what: string,
  context: RequestContext,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const encoder = new TextEncoder();
  const next = async () => {
    const { done, value } = await chunks.next();
    return done ? null : encoder.encode(value);
  };
  const ahead = [await next(), await next()];
  const reader: BodyReader = {
    async read() {
      for (;;) {
        const chunk = ahead.length > 0 ? ahead.shift() ?? null : await next();
        if (chunk === null || chunk.length > 0) return chunk;
      }
    },
    cancel: () => void chunks.return(undefined),
  };
  return guardedStream(reader, {
    broken: () => new BrokenStream("BrokenResponse", `${what} broke off`),
    unread: () => context.info?.breakOff?.(),
  });
}
