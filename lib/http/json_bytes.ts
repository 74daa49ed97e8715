/** So many characters are encoded at a time: encoding megabytes at once would delay every other request. */
const CHUNK_CHARACTERS = 32 * 1024;

const encoder = new TextEncoder();

/** A long JSON response that is encoded while it is computed. */
export class JsonBytes {
  readonly #chunks: Uint8Array<ArrayBuffer>[] = [];
  #text = "";

  /** Adds a piece of JSON. */
  text(json: string): void {
    this.#text += json;
    if (this.#text.length >= CHUNK_CHARACTERS) this.#encode();
  }

  /** Adds all of another one, which is not used afterwards. */
  append(other: JsonBytes): void {
    this.#encode();
    other.#encode();
    this.#chunks.push(...other.#chunks);
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
    if (this.#text !== "") this.#chunks.push(encoder.encode(this.#text));
    this.#text = "";
  }
}
