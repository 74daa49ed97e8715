import assert from "node:assert/strict";
import { openSocket, readUntilIdle, type SecureTarget, send } from "./raw_http.ts";

/** A line of the access log. */
type LogLine = Readonly<Record<string, unknown>>;

const IDLE_MS = 1000;
const LOG_MS = 10_000;

/** The beginning of a path that only a request within another one has. */
const HIDDEN = "/api/v1/smuggled-";

/** Requests of which the proxy and a server behind it might see different ends; `HIDDEN` stands in what one takes for a body. */
export const AMBIGUOUS: Readonly<Record<string, string>> = {
  "both lengths": head("Content-Length: @", "Transfer-Encoding: chunked") + "0\r\n\r\n@",
  "both lengths, the other way": head("Content-Length: 4", "Transfer-Encoding: chunked") + "5c\r\n@\r\n0\r\n\r\n",
  "two encodings": head("Transfer-Encoding: chunked", "Transfer-Encoding: identity") + "0\r\n\r\n@",
  "an unknown encoding": head("Content-Length: @", "Transfer-Encoding: xchunked") + "0\r\n\r\n@",
  "a blank before the colon": head("Content-Length: @", "Transfer-Encoding : chunked") + "0\r\n\r\n@",
  "a tab before the value": head("Content-Length: @", "Transfer-Encoding:\tchunked") + "0\r\n\r\n@",
  "a control before the value": head("Content-Length: @", "Transfer-Encoding: \x0bchunked") + "0\r\n\r\n@",
  "a folded header": head("Content-Length: @", "Transfer-Encoding:\r\n chunked") + "0\r\n\r\n@",
  "two lengths": head("Content-Length: 0", "Content-Length: @") + "@",
  "a list of lengths": head("Content-Length: 0, @") + "@",
  "a length with a sign": head("Content-Length: +0") + "@",
  "a length in another base": head("Content-Length: 0x0") + "@",
  "an endless length": head("Content-Length: 99999999999999999999999") + "@",
  "a chunk size that overflows": head("Transfer-Encoding: chunked") + "10000000000000000\r\n@",
  "a chunk size with a sign": head("Transfer-Encoding: chunked") + "+0\r\n\r\n@",
  "a bare line feed in a chunk extension": head("Transfer-Encoding: chunked") + "0;a=\n\r\n\r\n@",
  "a bare carriage return": `POST /api/v1/auth/token HTTP/1.1\r\nHost: %\r\nA: b\r\rContent-Length: 0\r\n\r\n@`,
  "a trailer that is a length": head("Transfer-Encoding: chunked", "Trailer: Content-Length") +
    "0\r\nContent-Length: 9\r\n\r\n@",
  "version 1.0 with chunks": head("Transfer-Encoding: chunked").replace("HTTP/1.1", "HTTP/1.0") + "0\r\n\r\n@",
  "an upgrade to HTTP/2": head("Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk") + "@",
  "a body of a GET": head("Content-Length: @").replace("POST /api/v1/auth/token", "GET /healthz") + "@",
  "a line break in the path": `GET /healthz%0d%0aX:%20y HTTP/1.1\r\nHost: %\r\nX: a\n\r\n@`,
};

function head(...fields: string[]): string {
  return `POST /api/v1/auth/token HTTP/1.1\r\nHost: %\r\n${fields.join("\r\n")}\r\n\r\n`;
}

/** Sends a request with another one inside, then looks whether the server behind the proxy has seen that one. */
export async function smuggle(kind: string, api: SecureTarget, gatewayLog: () => readonly LogLine[]): Promise<void> {
  const path = `${HIDDEN}${Object.keys(AMBIGUOUS).indexOf(kind)}`;
  const inner = `GET ${path} HTTP/1.1\r\nHost: ${api.host}\r\n\r\n`;
  const socket = await openSocket(api);
  const read = readUntilIdle(socket, IDLE_MS);
  const declared = AMBIGUOUS[kind].replace("Content-Length: @", `Content-Length: ${inner.length + 5}`)
    .replace("Content-Length: 0, @", `Content-Length: 0, ${inner.length}`);
  socket.write(declared.replaceAll("%\r\n", `${api.host}\r\n`).replaceAll("@", inner), "latin1");
  const text = await read;
  assert.equal((await send(api, { path: "/healthz" })).status, 200, "the next client gets its own response");
  const after = path.replace("smuggled", "after");
  await send(api, { path: after });
  await logged(gatewayLog, after);
  // A request behind one with a clear end is a second request of the same client, which it may send at any time.
  const isPipelined = text.split("HTTP/1.1 ").length > 2;
  const isSeen = gatewayLog().some((line) => String(line.path).includes(path));
  assert.ok(!isSeen || isPipelined, `the gateway has seen ${path}`);
}

/** The line of a request, which is written a moment after its response. */
export async function logged(log: () => readonly LogLine[], path: string): Promise<LogLine> {
  for (const end = Date.now() + LOG_MS;;) {
    const line = log().find((found) => found.path === path);
    if (line) return line;
    assert.ok(Date.now() < end, `${path} is not in the log`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
