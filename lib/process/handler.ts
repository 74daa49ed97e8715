import { addDefaultHeaders } from "@/lib/http/app.ts";
import { redactText, type RequestInfo } from "@/lib/http/request_context.ts";

/** The connection of a request. */
export interface HandlerInfo extends Pick<RequestInfo, "completed" | "target" | "breakOff"> {
  readonly remoteAddr: Deno.NetAddr;
}

/** Handles a request of a server on a TCP port. */
export type Handler = (request: Request, info: HandlerInfo) => Response | Promise<Response>;

/**
 * The response where a handler threw, which is a fault beyond all code that renders errors. It says as little as
 * theirs; the stack goes to standard error without secrets.
 */
export function faultResponse(error: unknown): Response {
  console.error(redactText(error instanceof Error ? error.stack ?? error.message : String(error)));
  const response = new Response("Internal Server Error", { status: 500 });
  addDefaultHeaders(response.headers);
  return response;
}

/** A host and perhaps a port (RFC 3986, section 3.2.2), loosely: without delimiters of an authority. */
const HOST = /^[\w.~%!$&'()*+,;=:[\]-]*$/;

/** Nearly all requests name what the last one named. */
let last = "";

/**
 * Whether a request names a host, or none (RFC 9112, section 3.2). The runtime writes the header in front of the path, so
 * that a slash in it would make another path of the request than proxies in front have seen.
 */
export function namesHost({ headers }: Pick<Request, "headers">): boolean {
  const host = headers.get("Host");
  if (host === null || host === last) return true;
  if (!HOST.test(host)) return false;
  last = host;
  return true;
}

/** The response to any other request: its connection is closed, as where a head cannot be read. */
export function noHostResponse(): Response {
  const response = new Response("The Host header is not a host\n", { status: 400, headers: { Connection: "close" } });
  addDefaultHeaders(response.headers);
  return response;
}

interface Leaving {
  /** Whether a path is a probe, by which a proxy decides where it sends requests. */
  readonly isProbe: (path: string) => boolean;
  /** Handles probes. */
  readonly stopping: Handler;
}

/**
 * Handles requests as before while proxies in front turn to other replicas: probes are handled by `stopping`, and each
 * connection is closed behind its next response, since a proxy would send further requests on it.
 */
export function leaving(handler: Handler, { isProbe, stopping }: Leaving): Handler {
  return async function leave(request, info) {
    const handle = isProbe(new URL(request.url).pathname) ? stopping : handler;
    const response = await handle(request, info);
    response.headers.set("Connection", "close");
    return response;
  };
}
