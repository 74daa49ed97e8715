import { Buffer } from "node:buffer";
import { type IncomingMessage, request as httpRequest } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import { hasDotSegment } from "./raw_path.ts";
import type { UpstreamOptions, UpstreamRequest } from "./upstream.ts";

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

const agents = new Map<string, Agent>();

/** The same contract as `fetch` without redirects, over node:http(s). */
export function nodeExchange(
  request: UpstreamRequest,
  { caCerts, verifyTls }: Pick<UpstreamOptions, "caCerts" | "verifyTls">,
  signal: AbortSignal,
): Promise<Response> {
  const { hostname, port, protocol } = new URL(request.origin);
  return new Promise((resolve, reject) => {
    const secure = protocol === "https:";
    const outgoing = (secure ? httpsRequest : httpRequest)({
      hostname: hostname.replace(/^\[|\]$/g, ""),
      port: port || (secure ? 443 : 80),
      path: request.target,
      method: request.method,
      headers: request.headers instanceof Headers ? Object.fromEntries(request.headers) : request.headers,
      ...(secure ? { agent: agentFor(caCerts, verifyTls) } : {}),
    });
    const cut = () => outgoing.destroy(new Error("aborted"));
    signal.addEventListener("abort", cut, { once: true });
    outgoing.on("error", (error) => {
      signal.removeEventListener("abort", cut);
      reject(error);
    });
    outgoing.on("response", (incoming) => {
      signal.removeEventListener("abort", cut);
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

function agentFor(caCerts: readonly string[] | undefined, verifyTls: boolean): Agent {
  const name = JSON.stringify([caCerts ?? [], verifyTls]);
  let agent = agents.get(name);
  if (!agent) {
    agent = new Agent({ keepAlive: true, rejectUnauthorized: verifyTls, ca: caCerts ? [...caCerts] : undefined });
    agents.set(name, agent);
  }
  return agent;
}

type Outgoing = ReturnType<typeof httpRequest>;

/** The next piece of a stream is read when the one before has been written: its memory may be used again then. */
async function sendBody(body: UpstreamRequest["body"], outgoing: Outgoing): Promise<void> {
  if (typeof body === "string" || body instanceof Uint8Array) {
    outgoing.setHeader("Content-Length", Buffer.byteLength(body));
    outgoing.write(body);
  } else if (body) {
    const reader = body.getReader();
    // Otherwise the head would wait for the first bytes, and with it a refusal that needs none.
    outgoing.flushHeaders();
    outgoing.once("close", () => reader.cancel().catch(() => {}));
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      if (!await written(outgoing, value)) return;
    }
  }
  outgoing.end();
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
