/** Encoding megabytes at once would delay every other request. */
const CHUNK_BYTES = 32 * 1024;
/** UTF-8 has at most so many bytes for a unit of UTF-16. */
const MAX_UNIT_BYTES = 3;
const MAX_ASCII = 0x7f;
const [SPACE, QUOTE, BACKSLASH] = [0x20, 0x22, 0x5c];

const encoder = new TextEncoder();

/**
 * A long JSON response that is written as it is computed, right into the chunks that are sent: a text of megabytes would
 * be joined, encoded and collected as well.
 */
export class JsonBytes {
  readonly #chunks: Uint8Array<ArrayBuffer>[] = [];
  #chunk = new Uint8Array(CHUNK_BYTES);
  #length = 0;

  /** Adds a piece of JSON. Joining pieces first would cost more than adding each. */
  text(json: string): this {
    this.#reserve(MAX_UNIT_BYTES * json.length);
    const chunk = this.#chunk;
    let at = this.#length;
    for (let i = 0; i < json.length; i++) {
      const unit = json.charCodeAt(i);
      if (unit > MAX_ASCII) {
        at += encoder.encodeInto(json.slice(i), chunk.subarray(at)).written;
        break;
      }
      chunk[at++] = unit;
    }
    this.#length = at;
    return this;
  }

  /** Adds a text as a JSON string. */
  string(text: string): this {
    this.#reserve(text.length + 2);
    const chunk = this.#chunk;
    let at = this.#length;
    chunk[at++] = QUOTE;
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i);
      if (unit < SPACE || unit > MAX_ASCII || unit === QUOTE || unit === BACKSLASH) {
        return this.text(JSON.stringify(text));
      }
      chunk[at++] = unit;
    }
    chunk[at++] = QUOTE;
    this.#length = at;
    return this;
  }

  /** Adds bytes of UTF-8, which are copied. */
  bytes(bytes: Uint8Array): this {
    this.#reserve(bytes.length);
    this.#chunk.set(bytes, this.#length);
    this.#length += bytes.length;
    return this;
  }

  /** Adds all of another one, which is not used afterwards. */
  append(other: JsonBytes): void {
    this.#endChunk(0);
    other.#endChunk(0);
    this.#chunks.push(...other.#chunks);
  }

  /** The response, with its length. */
  response(): Response {
    this.#endChunk(0);
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

  #reserve(bytes: number): void {
    if (this.#length + bytes > this.#chunk.length) this.#endChunk(Math.max(bytes, CHUNK_BYTES));
  }

  /** Begins a chunk with room for so many bytes. */
  #endChunk(bytes: number): void {
    if (this.#length > 0) this.#chunks.push(this.#chunk.subarray(0, this.#length));
    this.#chunk = new Uint8Array(bytes);
    this.#length = 0;
  }
}
