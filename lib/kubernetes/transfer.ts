import type { Buffer } from "node:buffer";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { request as httpsRequest, type RequestOptions } from "node:https";

/** One HTTP request over node's own client: `fetch` takes no agent, and agents carry the client certificates. */
export interface Transfer {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly agent: RequestOptions["agent"];
  readonly body?: Uint8Array;
  readonly signal?: AbortSignal;
}

export interface TransferLimits {
  /** Until the connection stands, ms. */
  readonly connectMs: number;
  /** Longest silence once it stands, ms. */
  readonly idleMs: number;
  /** Until the last byte, ms. */
  readonly totalMs: number;
}

/** Why there is no answer; its message is ours and holds neither address nor credentials. */
export class TransferError extends Error {
  override readonly name = "TransferError";
}

/**
 * Sends a request and hands the pieces of its answer to `take` as they come, with its status, which is also the result.
 * What `take` throws ends the transfer.
 *
 * @throws {TransferError} when a limit is passed, the signal aborts or the connection breaks
 */
export function transfer(
  request: Transfer,
  limits: TransferLimits,
  take: (chunk: Buffer, status: number) => void,
): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
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
  let isSettled = false;
  const settle = () => {
    isSettled = true;
    clearTimeout(patience);
    clearTimeout(total);
    signal?.removeEventListener("abort", leave);
  };
  const end = (error: unknown) => {
    settle();
    reject(error);
    outgoing.destroy();
  };
  // Settled by us and not by an event of the socket, which a connection that never stood may not send.
  const fail = (what: string, cause?: unknown) => end(new TransferError(what, { cause }));

  wait(limits.connectMs, "no connection");
  signal?.addEventListener("abort", leave, { once: true });
  outgoing.on("error", (cause) => fail("the connection broke", cause));
  outgoing.on("socket", (socket) => {
    const stands = () => {
      if (!isSettled) wait(limits.idleMs, "silence");
    };
    if (!socket.connecting) stands();
    else socket.once(url.protocol === "https:" ? "secureConnect" : "connect", stands);
  });
  outgoing.on("response", (incoming: IncomingMessage) => {
    if (isSettled) return;
    const status = incoming.statusCode ?? 0;
    wait(limits.idleMs, "silence");
    incoming.on("error", (cause) => fail("the answer broke off", cause));
    // Some breaks are told by no more than this; after an end it is too late to matter.
    incoming.on("close", () => isSettled || fail("the answer broke off"));
    incoming.on("data", (chunk: Buffer) => {
      if (isSettled) return;
      wait(limits.idleMs, "silence");
      try {
        take(chunk, status);
      } catch (error) {
        end(error);
      }
    });
    incoming.on("end", () => {
      if (isSettled) return;
      if (!incoming.complete) return fail("the answer broke off");
      settle();
      resolve(status);
    });
  });
  outgoing.end(request.body);
  if (signal?.aborted) leave();
  return promise;
}
