import { BrokenStream, guardedStream, nextPiece } from "@/lib/http/guarded_stream.ts";

/**
 * Hands a body on piece by piece. When it breaks off or stalls, the reader's stream breaks as well, so that nobody takes
 * a part for the whole; a reader who leaves ends the upstream's.
 *
 * @param stallMs longest wait for the next piece while the reader wants one
 * @param broken is told why the upstream's body did not end well
 */
export function guardedBody(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  stallMs: number,
  broken: (error: unknown) => void,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const reader = body.getReader();
  return guardedStream(
    reader,
    () => nextPiece(reader, stallMs, (message) => new StalledBody(message)),
    (error) => {
      broken(error);
      return new BrokenStream("BrokenAnswer", "an answer broke off");
    },
  );
}

/** An upstream that keeps a connection open and sends nothing more. */
class StalledBody extends Error {
  override readonly name = "StalledBody";
}
