import { type RawTarget, REQUEST_ID_HEADER, type RequestContext } from "@/lib/http/request_context.ts";
import { gatewayTimeout } from "@/lib/http/errors.ts";
import { type WatchedUpload, watchedUpload } from "@/lib/http/body.ts";
import { announcedLength } from "@/lib/std/body_reader.ts";
import { guardedBody, type UpstreamClient } from "@/lib/http/upstream.ts";

/** A request to the gateway role for a request of a browser. */
export interface GatewayRequest {
  readonly method: string;
  /** Below `/api/v1`, exactly as it is to be read. */
  readonly target: RawTarget;
  /** Without those of the connection. */
  readonly headers: Headers;
  readonly body?: ReadableStream<Uint8Array<ArrayBuffer>> | Uint8Array<ArrayBuffer> | null;
  /**
   * This process reads the response itself, which ends before the browser's own does: with its head, or once the promise
   * is fulfilled.
   */
  readonly readHere?: true | Promise<void>;
  /** Called with what a gateway in this process knows of the request, for the log. */
  readonly known?: (
    handled: Pick<RequestContext, "operation" | "route" | "audit" | "caller" | "admitted" | "refusal">,
  ) => void;
}

/**
 * The gateway role as the web role calls it, in this process or another. The context is that of the browser's request:
 * the client's address and the end of its connection count in the gateway as well.
 *
 * It throws UpstreamError when there is no response.
 */
export type GatewayService = (request: GatewayRequest, context: RequestContext) => Promise<Response>;

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

/** Time for the gateway to respond once it has the body, ms: as long as it waits for its store. */
const WORK_MS = 60_000;

/** A watched upload of a body of known length; null for one of unknown length, which is sent in chunks. */
function uploadOf(body: Body, headers: Headers): WatchedUpload | null {
  const lengthBytes = announcedLength({ headers });
  const stalled = () => gatewayTimeout("the storage gateway did not take the body in time");
  return lengthBytes === null ? null : watchedUpload(body, { lengthBytes, workMs: WORK_MS, stalled });
}

/**
 * The gateway role behind an address.
 *
 * @param base scheme, host, port and a path without a trailing slash, before `/api/v1`
 * @param upstream its timeout covers the time to the response headers
 * @param trustedHops proxies in front of this role, which the gateway may have in front of itself too
 */
export function remoteGateway(base: string, upstream: UpstreamClient, trustedHops: number): GatewayService {
  const { origin, pathname } = new URL(base);
  const prefix = pathname === "/" ? "" : pathname;
  return async function remoteGateway({ method, target, headers, body = null }, context) {
    const query = target.query === "" ? "" : `?${target.query}`;
    const sent = new Headers(headers);
    // The address by which this role knows the client, alone, and as often as a gateway behind the same proxies counts.
    const forwardedFor = Array<string>(Math.max(trustedHops, 1)).fill(context.clientAddress ?? "unknown");
    sent.set("X-Forwarded-For", forwardedFor.join(", "));
    sent.set(REQUEST_ID_HEADER, context.requestId);
    // A length without a body would have the gateway take the next request for its bytes.
    if (body === null) { for (const name of ["Content-Length", "Transfer-Encoding"]) sent.delete(name); }
    const { request: { signal }, info } = context;
    const upload = body instanceof ReadableStream ? uploadOf(body, headers) : null;
    let response: Response;
    try {
      response = await upstream.send({
        method,
        origin,
        target: `${prefix}${target.path}${query}`,
        headers: Object.fromEntries(sent),
        body: upload ? upload.body : body,
        signal: upload ? AbortSignal.any([signal, upload.signal]) : signal,
      });
    } catch (error) {
      throw upload?.failure() ?? error;
    } finally {
      upload?.release();
    }
    if (!response.body) return response;
    const guarded = guardedBody(response.body as Body, {
      unread: info?.breakOff?.bind(info),
      freesChunks: info?.breakOff !== undefined,
    });
    return new Response(guarded, { status: response.status, headers: response.headers });
  };
}
