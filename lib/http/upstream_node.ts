import { Buffer } from "node:buffer";
import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { hasDotSegment } from "./raw_path.ts";
import { tlsTrust } from "./tls_trust.ts";
import type { UpstreamOptions, UpstreamRequest } from "./upstream_request.ts";

const BODILESS = new Set([204, 205, 304]);

/** What `fetch` rewrites in a URL: quotes and the like it encodes, a backslash it takes for a slash. */
const REWRITTEN = /["'<>\\^`{|}]/;

/**
 * Whether only node:http carries a request faithfully: `fetch` folds dot segments, rewrites characters and always
 * verifies certificates.
 */
export function needsNode(request: Pick<UpstreamRequest, "origin" | "target">, verifyTls: boolean): boolean {
  return hasDotSegment(request.target.split("?", 1)[0]) || REWRITTEN.test(request.target) ||
    (!verifyTls && request.origin.startsWith("https:"));
}

/** A request whose stream says its length in a header. */
type NodeRequest = UpstreamRequest & { readonly body?: Exclude<UpstreamRequest["body"], Blob> };

/**
 * The same contract as `fetch` without redirects, over node:http(s).
 *
 * A stream gets a connection of its own. On one that was used before, the runtime (Deno 2.9) sends a request again, also
 * after it was destroyed, from the pieces that it was given: their memory may hold other bytes by then.
 */
export function nodeExchange(
  request: NodeRequest,
  { caCerts, verifyTls }: Pick<UpstreamOptions, "caCerts" | "verifyTls">,
  signal: AbortSignal,
): Promise<Response> {
  const { hostname, port, protocol } = new URL(request.origin);
  return new Promise((resolve, reject) => {
    const secure = protocol === "https:";
    const agents = request.body instanceof ReadableStream ? fresh : kept;
    const outgoing = (secure ? httpsRequest : httpRequest)({
      hostname: hostname.replace(/^\[|\]$/g, ""),
      port: port || (secure ? 443 : 80),
      path: request.target,
      method: request.method,
      headers: request.headers instanceof Headers ? Object.fromEntries(request.headers) : request.headers,
      agent: secure ? agents.secure(caCerts, verifyTls) : agents.plain,
    });
    const cut = () => {
      // Else it would be sent again on another connection.
      outgoing.reusedSocket = false;
      outgoing.destroy(new Error("aborted"));
    };
    signal.addEventListener("abort", cut, { once: true });
    outgoing.on("error", (error) => {
      signal.removeEventListener("abort", cut);
      reject(error);
    });
    outgoing.on("response", (incoming) => {
      signal.removeEventListener("abort", cut);
      incoming.once("end", () => cutUnsent(outgoing));
      try {
        resolve(toResponse(incoming, request.method));
      } catch (error) {
        incoming.destroy();
        reject(error);
      }
    });
    sendBody(request.body, outgoing).catch((error) => outgoing.destroy(asError(error)));
  });
}

/** Agents that keep connections for later requests, or that open one for each. */
function agentsThat(keepAlive: boolean) {
  const known = new Map<string, HttpsAgent>();
  return {
    plain: new HttpAgent({ keepAlive }),
    secure(caCerts: readonly string[] | undefined, verifyTls: boolean): HttpsAgent {
      const name = JSON.stringify([caCerts ?? [], verifyTls]);
      let agent = known.get(name);
      if (!agent) {
        agent = new HttpsAgent({ keepAlive, rejectUnauthorized: verifyTls, ...tlsTrust(caCerts) });
        known.set(name, agent);
      }
      return agent;
    },
  };
}

const kept = agentsThat(true);
const fresh = agentsThat(false);

type Outgoing = ReturnType<typeof httpRequest>;

/** A server that has answered without reading the body need never read it: the rest would wait for ever (RFC 9112 §9.5). */
function cutUnsent(outgoing: Outgoing): void {
  if (!outgoing.writableFinished) outgoing.destroy();
}

/** The next piece of a stream is read when the one before has been written: its memory may be used again then. */
async function sendBody(body: NodeRequest["body"], outgoing: Outgoing): Promise<void> {
  if (typeof body === "string" || body instanceof Uint8Array) {
    outgoing.setHeader("Content-Length", Buffer.byteLength(body));
    outgoing.write(body);
  } else if (body) {
    const reader = body.getReader();
    // Otherwise the head would wait for the first bytes, and with it a refusal that needs none.
    outgoing.flushHeaders();
    outgoing.once("close", () => reader.cancel().catch(() => {}));
    let sentBytes = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      sentBytes += value.length;
      if (!await written(outgoing, value)) return;
    }
    // The connection is used again after an early answer: the next request would be taken for what is missing here.
    if (sentBytes !== announcedBytes(outgoing, sentBytes)) throw new Error("the body is not as long as announced");
  }
  outgoing.end();
}

function announcedBytes(outgoing: Outgoing, otherwise: number): number {
  const length = outgoing.getHeader("content-length");
  return length === undefined ? otherwise : Number(length);
}

/** Whether bytes were written; false when the connection is gone. */
function written(outgoing: Outgoing, bytes: Uint8Array): Promise<boolean> {
  if (outgoing.destroyed) return Promise.resolve(false);
  return new Promise((resolve) => {
    const gone = () => resolve(false);
    outgoing.once("close", gone);
    outgoing.write(bytes, (error) => {
      outgoing.off("close", gone);
      resolve(!error);
    });
  });
}

function toResponse(incoming: IncomingMessage, method: string): Response {
  const headers = new Headers();
  for (let i = 0; i + 1 < incoming.rawHeaders.length; i += 2) {
    headers.append(incoming.rawHeaders[i], incoming.rawHeaders[i + 1]);
  }
  const status = incoming.statusCode ?? 502;
  if (method === "HEAD" || BODILESS.has(status)) {
    incoming.resume();
    return new Response(null, { status, headers });
  }
  return new Response(bodyStream(incoming), { status, headers });
}

/** Once the stream has ended or was cancelled, late events of the socket must not touch it: that would throw. */
function bodyStream(incoming: IncomingMessage): ReadableStream<Uint8Array<ArrayBuffer>> {
  let over = false;
  incoming.pause();
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      const finish = (error?: Error) => {
        if (over) return;
        over = true;
        if (error) controller.error(error);
        else controller.close();
      };
      incoming.on("data", (chunk: Buffer) => {
        if (over) return;
        controller.enqueue(new Uint8Array(chunk));
        incoming.pause();
      });
      incoming.on("end", () => finish(incoming.complete ? undefined : new Error("cut short")));
      incoming.on("error", finish);
      incoming.on("aborted", () => finish(new Error("cut short")));
    },
    pull() {
      incoming.resume();
    },
    cancel() {
      over = true;
      incoming.destroy();
    },
  }, { highWaterMark: 1 });
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
