import { connect, type TLSSocket } from "node:tls";

/** An HTTPS server on loopback that is reached under another name. */
export interface SecureTarget {
  readonly port: number;
  /** The name of the handshake (SNI), and of `Host` where a request has no other. */
  readonly host: string;
  /** PEM of the authority that issued its certificate. */
  readonly ca: string;
  /** The client's own address, such as `127.0.0.2`. */
  readonly localAddress?: string;
}

export interface RawResponse {
  readonly status: number;
  /** By names in lower case; the last header of a name counts. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
}

interface RawRequest {
  readonly method?: string;
  /** Sent without normalization. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

const CONNECT_MS = 10_000;

/**
 * A connection whose bytes are the caller's own. It is open once this resolves.
 *
 * @throws {Error} where the handshake fails
 */
export function openSocket({ port, host, ca, localAddress }: SecureTarget): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, servername: host, ca, localAddress, ALPNProtocols: ["http/1.1"] };
    const socket = connect(options, () => resolve(socket));
    socket.setTimeout(CONNECT_MS, () => socket.destroy(new Error("no connection in time")));
    socket.once("secureConnect", () => socket.setTimeout(0));
    socket.on("error", reject);
  });
}

/** All bytes that arrive until the server closes the connection or is idle for `idleMs`, as Latin-1. */
export function readUntilIdle(socket: TLSSocket, idleMs: number): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    socket.on("data", (chunk: Uint8Array) => text += new TextDecoder("latin1").decode(chunk));
    socket.setTimeout(idleMs, () => socket.destroy());
    socket.on("error", () => {});
    socket.once("close", () => resolve(text));
  });
}

/** Sends one request on a new connection, byte for byte. */
export async function send(target: SecureTarget, request: RawRequest): Promise<RawResponse> {
  const { method = "GET", path, headers = {}, body = "" } = request;
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  const fields = { Host: target.host, Connection: "close", "Content-Length": String(bytes.length), ...headers };
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`).join("");
  const socket = await openSocket(target);
  const response = readResponse(socket);
  socket.write(`${method} ${path} HTTP/1.1\r\n${head}\r\n`);
  if (bytes.length > 0) socket.write(bytes);
  return await response;
}

/** The response on a connection that the server closes behind it. */
function readResponse(socket: TLSSocket): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    socket.on("data", (chunk: Uint8Array) => chunks.push(chunk));
    socket.once("error", reject);
    socket.once("close", () => {
      const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
      let at = 0;
      for (const chunk of chunks) {
        bytes.set(chunk, at);
        at += chunk.length;
      }
      const text = new TextDecoder("latin1").decode(bytes);
      const end = text.indexOf("\r\n\r\n");
      const [line, ...fields] = text.slice(0, end).split("\r\n");
      const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(line)?.[1]);
      if (!status) return reject(new Error("the connection was closed without a response"));
      const headers = new Map(fields.map((field): [string, string] => {
        const colon = field.indexOf(":");
        return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
      }));
      const rest = bytes.subarray(end + 4);
      const isChunked = headers.get("transfer-encoding") === "chunked";
      resolve({ status, headers, body: isChunked ? unchunked(rest) : rest });
    });
  });
}

function unchunked(bytes: Uint8Array): Uint8Array {
  const text = new TextDecoder("latin1").decode(bytes);
  const parts: number[] = [];
  for (let at = 0;;) {
    const end = text.indexOf("\r\n", at);
    const size = parseInt(text.slice(at, end), 16);
    if (end < 0 || !size) return new Uint8Array(parts);
    parts.push(...bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}
