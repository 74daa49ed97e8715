const CHUNK_CHARACTERS = 64 * 1024;

/**
 * A long JSON response that is written as it is computed, and encoded in chunks: encoding megabytes at once would
 * delay every other request.
 */
export class JsonText {
  readonly #encoder = new TextEncoder();
  readonly #chunks: Uint8Array<ArrayBuffer>[] = [];
  #text = "";

  add(text: string): void {
    this.#text += text;
    if (this.#text.length >= CHUNK_CHARACTERS) this.#encode();
  }

  /** The response, with its length. */
  response(): Response {
    this.#encode();
    const chunks = this.#chunks.values();
    const length = this.#chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull(controller) {
        const { done, value } = chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    });
    return new Response(body, { headers: { "Content-Type": "application/json", "Content-Length": String(length) } });
  }

  #encode(): void {
    if (this.#text === "") return;
    this.#chunks.push(this.#encoder.encode(this.#text));
    this.#text = "";
  }
}
