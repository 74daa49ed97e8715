import { announcedLength, streamReader } from "@/lib/std/body_reader.ts";
import { BodyTooLong, readWhole, SlowBody } from "@/lib/std/bounded_reader.ts";
import { withDeadline } from "@/lib/std/deadline.ts";
import { SHORT_BODY_MS } from "@/lib/std/time_bounds.ts";

/** A response whose body is still coming. */
export interface UpstreamResponse extends Response {
  /** Breaks the body off, also while it is read. Absent where cancelling the body is the only way. */
  breakOff?: AbortController;
}

/** Reads a whole body as text (UTF-8, malformed bytes replaced). @throws as {@link readCappedBytes} */
export async function readCapped(
  response: UpstreamResponse,
  capBytes: number,
  totalMs: number = SHORT_BODY_MS,
): Promise<string> {
  return new TextDecoder().decode(await readCappedBytes(response, capBytes, totalMs));
}

/**
 * Reads a whole body.
 *
 * @param capBytes most bytes that are taken; a longer body is cancelled
 * @param totalMs longest way of the whole body, however steadily it drips
 * @throws BodyTooLong, SlowBody, or what breaks the stream
 */
export async function readCappedBytes(
  response: UpstreamResponse,
  capBytes: number,
  totalMs: number = SHORT_BODY_MS,
): Promise<Uint8Array<ArrayBuffer>> {
  if (!response.body) return new Uint8Array(0);
  // The announced length of an encoded body is not that of what is read.
  const announced = response.headers.has("content-encoding") ? null : announcedLength(response);
  if (announced !== null && announced > capBytes) {
    response.body.cancel().catch(() => {});
    throw new BodyTooLong(capBytes);
  }
  const { breakOff } = response;
  // In one call: of a short body, each chunk would cost more than all the rest. A long one would take its length three
  // times outside of V8's heap (chunks, copies, the whole), and V8 would collect all of its memory every few bodies.
  if (announced !== null && breakOff) {
    return await withDeadline(totalMs, {
      work: () => response.bytes(),
      cancel: () => breakOff.abort(),
      late: () => new SlowBody(`not whole after ${totalMs} ms`),
    });
  }
  return await readWhole(streamReader(response.body), { maxBytes: capBytes, totalMs });
}
