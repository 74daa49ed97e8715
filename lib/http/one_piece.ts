/**
 * Bytes that are kept, as a body that shares them. A `Response` copies bytes that it is given, though not those of a
 * stream: each list would have V8 collect half a megabyte, and each client that does not read would hold a copy. The
 * bytes must not change.
 */
export function onePiece(bytes: Uint8Array<ArrayBuffer>): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(bytes);
      controller.close();
    },
  });
}
