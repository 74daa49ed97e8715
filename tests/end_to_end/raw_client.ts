import assert from "node:assert/strict";

const encoder = new TextEncoder();

/** A request as it goes over the wire: a body without a length is sent chunked. */
export interface RawRequest {
  readonly origin: string;
  readonly method: string;
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body's first bytes; the rest is filled up. */
  readonly begins?: string;
  readonly lengthBytes: number;
  readonly chunkBytes?: number;
}

/** A connection of a client that sends everything before it reads anything. */
export class RawClient {
  readonly #socket: Deno.TcpConn;
  readonly #host: string;

  private constructor(socket: Deno.TcpConn, host: string) {
    this.#socket = socket;
    this.#host = host;
  }

  static async to(origin: string): Promise<RawClient> {
    const { hostname, port, host } = new URL(origin);
    return new RawClient(await Deno.connect({ hostname, port: Number(port) }), host);
  }

  /** Status and headers of the answer. */
  async send({ method, target, headers = {}, begins = "", lengthBytes, chunkBytes }: RawRequest) {
    const framing = chunkBytes ? "Transfer-Encoding: chunked" : `Content-Length: ${lengthBytes}`;
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
    await this.#write(
      encoder.encode(`${method} ${target} HTTP/1.1\r\nHost: ${this.#host}\r\n${lines}${framing}\r\n\r\n`),
    );
    for (const piece of pieces(encoder.encode(begins), lengthBytes, chunkBytes)) await this.#write(piece);
    return await this.#answer();
  }

  /** Whether the server has closed the connection, or does so. */
  async isClosed(): Promise<boolean> {
    return await this.#socket.read(new Uint8Array(1)) === null;
  }

  close(): void {
    this.#socket.close();
  }

  async #write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) at += await this.#socket.write(bytes.subarray(at));
  }

  async #answer(): Promise<{ status: number; head: string }> {
    let text = "";
    const buffer = new Uint8Array(64 * 1024);
    for (let end = -1, length = 0; end < 0 || text.length < end + 4 + length;) {
      const read = await this.#socket.read(buffer);
      assert.ok(read !== null, `the connection ended after ${JSON.stringify(text)}`);
      text += new TextDecoder("latin1").decode(buffer.subarray(0, read));
      end = text.indexOf("\r\n\r\n");
      length = Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, end + 2))?.[1] ?? 0);
    }
    return { status: Number(text.split(" ", 2)[1]), head: text.split("\r\n\r\n", 1)[0] };
  }
}

/** A body of so many bytes, in its framing, some 256 KiB at a time. */
function* pieces(begins: Uint8Array, lengthBytes: number, chunkBytes?: number): Iterable<Uint8Array> {
  const size = chunkBytes ?? 256 * 1024;
  const chunk = new Uint8Array(size).fill(0x61);
  const framed = chunkBytes ? inChunk(chunk) : chunk;
  const several = new Uint8Array(framed.length * Math.max(1, Math.floor(256 * 1024 / size)));
  for (let at = 0; at < several.length; at += framed.length) several.set(framed, at);
  let left = lengthBytes - begins.length;
  if (begins.length > 0) yield chunkBytes ? inChunk(begins) : begins;
  for (const all = several.length / framed.length * size; left >= all; left -= all) yield several;
  for (; left >= size; left -= size) yield framed;
  if (left > 0) yield chunkBytes ? inChunk(chunk.subarray(0, left)) : chunk.subarray(0, left);
  if (chunkBytes) yield encoder.encode("0\r\n\r\n");
}

function inChunk(bytes: Uint8Array): Uint8Array {
  const size = encoder.encode(`${bytes.length.toString(16)}\r\n`);
  const framed = new Uint8Array(size.length + bytes.length + 2);
  framed.set(size);
  framed.set(bytes, size.length);
  framed.set([13, 10], size.length + bytes.length);
  return framed;
}
