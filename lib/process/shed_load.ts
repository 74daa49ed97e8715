import { addressKey, clientAddress, peerAddress } from "@/lib/http/client_address.ts";
import { addDefaultHeaders } from "@/lib/http/default_headers.ts";
import { rawTarget } from "@/lib/http/raw_path.ts";
import { REQUEST_ID_HEADER, requestId } from "@/lib/http/request_context.ts";
import { cancelBody } from "@/lib/std/body_reader.ts";
import type { LoadShedder } from "@/lib/std/load_shedder.ts";
import type { Handler, HandlerInfo } from "./handler.ts";

const RETRY_AFTER_SECONDS = 1;
const BODY = JSON.stringify({ detail: "Stackroom is overloaded, try again" });
/** They are cloned: creating a response with its headers costs ten times as much. */
const REFUSAL = refusal(BODY);
const REFUSAL_OF_HEAD = refusal(null);

interface ShedLoad {
  readonly shedder: LoadShedder;
  /** Paths that are always handled, such as probes: an orchestrator would end a process that is busy. */
  readonly always: ReadonlySet<string>;
  /** How many proxies in front of this process are ours. */
  readonly trustedHops: number;
}

/**
 * Refuses the requests that an overloaded process cannot handle in time, with 503 and `Retry-After`. They are neither
 * routed nor logged, so that most of the process is left for those that it admits.
 */
export function shedLoad(handler: Handler, { shedder, always, trustedHops }: ShedLoad): Handler {
  const admitted = async (request: Request, info: HandlerInfo, isRead: boolean, address: string) => {
    try {
      return await handler(request, info);
    } finally {
      shedder.leave(isRead, address);
    }
  };
  return function shed(request, info) {
    if (always.has((info.target ?? rawTarget(request.url)).path)) return handler(request, info);
    const isRead = request.method === "GET" || request.method === "HEAD";
    const forwardedFor = trustedHops > 0 ? request.headers.get("X-Forwarded-For") : null;
    const address = addressKey(clientAddress(forwardedFor, peerAddress(info), trustedHops));
    if (shedder.enter(isRead, address)) return admitted(request, info, isRead, address);
    cancelBody(request);
    const response = (request.method === "HEAD" ? REFUSAL_OF_HEAD : REFUSAL).clone();
    response.headers.set(REQUEST_ID_HEADER, requestId(request.headers.get(REQUEST_ID_HEADER)));
    return response;
  };
}

function refusal(body: string | null): Response {
  const headers = new Headers({
    "Content-Type": "application/json",
    "Cache-Control": "private, no-store",
    "Retry-After": String(RETRY_AFTER_SECONDS),
  });
  addDefaultHeaders(headers);
  return new Response(body, { status: 503, headers });
}
