/** Reads a request's body. */
export interface BodyReader {
  /** The next bytes; null at the end. They stand in memory that the next read uses again. */
  read(): Promise<Uint8Array<ArrayBuffer> | null>;
  /** Takes no more: who waits for bytes gets none. Harmless at any time. */
  cancel(): void;
}

/** Ends a stream, what waits for it included, and leaves it to others. */
export function giveUp(reader: ReadableStreamDefaultReader<unknown> | ReadableStreamBYOBReader): void {
  reader.cancel().catch(() => {});
  reader.releaseLock();
}
