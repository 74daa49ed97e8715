const PIECE_CHARACTERS = 64 * 1024;

/**
 * A long JSON answer that is written as it is computed, and encoded piece by piece: turning megabytes into bytes at
 * once would hold up every other request.
 */
export class JsonText {
  readonly #encoder = new TextEncoder();
  readonly #pieces: Uint8Array<ArrayBuffer>[] = [];
  #text = "";

  add(text: string): void {
    this.#text += text;
    if (this.#text.length >= PIECE_CHARACTERS) this.#encode();
  }

  /** The response, with its length. */
  response(): Response {
    this.#encode();
    const pieces = this.#pieces.values();
    const length = this.#pieces.reduce((sum, piece) => sum + piece.length, 0);
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull(controller) {
        const { done, value } = pieces.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
    });
    return new Response(body, { headers: { "Content-Type": "application/json", "Content-Length": String(length) } });
  }

  #encode(): void {
    if (this.#text === "") return;
    this.#pieces.push(this.#encoder.encode(this.#text));
    this.#text = "";
  }
}
