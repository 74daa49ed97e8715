import { Buffer } from "node:buffer";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";

/** One HTTP exchange over node's own client: `fetch` takes no agent, and agents carry the client certificates. */
export interface Exchange {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly agent: RequestOptions["agent"];
  readonly body?: Uint8Array;
  readonly signal?: AbortSignal;
}

export interface ExchangeLimits {
  /** Until the connection stands, ms. */
  readonly connectMs: number;
  /** Longest silence once it stands, ms. */
  readonly idleMs: number;
  /** Until the last byte, ms. */
  readonly totalMs: number;
  /** Of the answer's body. */
  readonly maxBytes: number;
}

export interface Answer {
  readonly status: number;
  readonly body: Uint8Array;
}

/** Why there is no answer; its message is ours and holds neither address nor credentials. */
export class ExchangeError extends Error {
  override readonly name = "ExchangeError";
}

/**
 * Sends a request and reads its answer whole.
 *
 * @throws {ExchangeError} when a limit is passed, the signal aborts or the connection breaks
 */
export function exchange(request: Exchange, limits: ExchangeLimits): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const { url, signal } = request;
  const outgoing = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, {
    method: request.method,
    headers: { ...request.headers, ...(request.body && { "Content-Length": String(request.body.length) }) },
    agent: request.agent,
  });
  let patience: ReturnType<typeof setTimeout> | undefined;
  const wait = (ms: number, what: string) => {
    clearTimeout(patience);
    patience = setTimeout(() => fail(what), ms);
  };
  const total = setTimeout(() => fail("the answer took too long"), limits.totalMs);
  const leave = () => fail("nobody waits for the answer");
  const settle = () => {
    clearTimeout(patience);
    clearTimeout(total);
    signal?.removeEventListener("abort", leave);
  };
  // Settled by us and not by an event of the socket, which a connection that never stood may not send.
  const fail = (what: string, cause?: unknown) => {
    settle();
    reject(new ExchangeError(what, { cause }));
    outgoing.destroy();
  };

  wait(limits.connectMs, "no connection");
  signal?.addEventListener("abort", leave, { once: true });
  outgoing.on("error", (cause) => fail("the connection broke", cause));
  outgoing.on("socket", (socket) => {
    const stands = () => wait(limits.idleMs, "silence");
    if (!socket.connecting) stands();
    else socket.once(url.protocol === "https:" ? "secureConnect" : "connect", stands);
  });
  outgoing.on("response", (incoming: IncomingMessage) => {
    const chunks: Buffer[] = [];
    let length = 0;
    wait(limits.idleMs, "silence");
    incoming.on("error", (cause) => fail("the answer broke off", cause));
    incoming.on("data", (chunk: Buffer) => {
      wait(limits.idleMs, "silence");
      length += chunk.length;
      if (length > limits.maxBytes) fail(`the answer is longer than ${limits.maxBytes} bytes`);
      else chunks.push(chunk);
    });
    incoming.on("end", () => {
      if (!incoming.complete) return fail("the answer broke off");
      settle();
      resolve({ status: incoming.statusCode ?? 0, body: Buffer.concat(chunks) });
    });
  });
  outgoing.end(request.body);
  if (signal?.aborted) leave();
  return promise;
}
