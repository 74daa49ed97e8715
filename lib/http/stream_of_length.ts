/**
 * A stream that says how long it is. As the body of a request the runtime (Deno 2.9) sends any other stream in chunks,
 * and drops its Content-Length; of a Blob it asks the size, and reads the stream that the Blob gives.
 */
export class StreamOfLength extends Blob {
  readonly #stream: ReadableStream<Uint8Array<ArrayBuffer>>;
  readonly #lengthBytes: number;

  constructor(stream: ReadableStream<Uint8Array<ArrayBuffer>>, lengthBytes: number) {
    super();
    this.#stream = stream;
    this.#lengthBytes = lengthBytes;
  }

  override get size(): number {
    return this.#lengthBytes;
  }

  /** The stream itself: it can be read once. */
  override stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    return this.#stream;
  }
}
