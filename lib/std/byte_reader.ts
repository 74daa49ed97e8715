/** Reads a request's body. */
export interface BodyReader {
  /** The next bytes; null at the end. They are in memory that the next read uses again. */
  read(): Promise<Uint8Array<ArrayBuffer> | null>;
  /** Ends the reading: a pending read returns null. May be called at any time. */
  cancel(): void;
}

/** Cancels a stream, pending reads included, and releases its lock. */
export function releaseReader(reader: ReadableStreamDefaultReader<unknown> | ReadableStreamBYOBReader): void {
  reader.cancel().catch(() => {});
  reader.releaseLock();
}
