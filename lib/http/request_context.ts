import type { MiddlewareHandler } from "hono";
import type { AuditDetails, HandlingRole } from "./audit_event.ts";
import { clientAddress, peerAddress, trustProxies } from "./client_address.ts";
import { methodNotAllowed, type Refusal } from "./errors.ts";
import { type RawTarget, rawTarget } from "./raw_path.ts";

/** Who a request acts for, as far as the access log is concerned. */
interface LoggedCaller {
  readonly username: string;
  readonly tenant: string | null;
}

/** Whether the store has accepted the credentials of a request lately. */
export type Admitted = "proven" | "unproven";

/** The context of one request: the request, and facts that its handling adds. */
export class RequestContext {
  readonly request: Request;
  readonly method: string;
  readonly target: RawTarget;
  readonly requestId: string;
  /** The same for all requests that the roles of this process make for one request of a client. */
  readonly source: object;
  /** Absent where a test calls the app without a network. */
  readonly info: RequestInfo | undefined;
  /** The address of the client; null where it is unknown. */
  clientAddress: string | null;
  /** The stable operation name, once the route is known. */
  operation: string | undefined;
  /** The template of the operation's path, once it is known. */
  route: string | undefined;
  /** The action under which the change of the operation is recorded. */
  audit: string | undefined;
  /** Details of the change that the handler has found out, for the record. */
  noted: AuditDetails | undefined;
  caller: LoggedCaller | undefined;
  /** The role that handles it; undefined where none does. */
  role: HandlingRole | undefined;
  /** How it was admitted, where credentials are needed. */
  admitted: Admitted | undefined;
  /** Whether the store has accepted the credentials of a request that was admitted without that. */
  isAccepted = false;
  /** Checks the credentials of such a request at the store. @throws HttpError if they are rejected */
  prove: (() => Promise<void>) | undefined;
  /** Why it was turned away. */
  refusal: Refusal | undefined;
  readonly #held: (() => void)[] = [];
  #isOver = false;

  constructor(request: Request, info?: RequestInfo, trustedHops = 0) {
    this.request = request;
    this.info = info;
    this.method = request.method;
    this.target = info?.target ?? rawTarget(request.url);
    this.source = info?.source ?? this;
    this.requestId = requestId(request.headers.get(REQUEST_ID_HEADER));
    this.clientAddress = null;
    this.trustHops(trustedHops);
  }

  /** Says how many proxies in front of this role are ours, which determines the addresses of client and site. */
  trustHops(trustedHops: number): void {
    trustProxies(this.request, trustedHops);
    const forwardedFor = trustedHops > 0 ? this.header("X-Forwarded-For") : null;
    this.clientAddress = clientAddress(forwardedFor, peerAddress(this.info), trustedHops);
  }

  /** Holds a resource while the request runs: `leave` is called once, at its end. */
  hold(leave: () => void): void {
    if (this.#isOver) leave();
    else this.#held.push(leave);
  }

  /** Releases all that it holds: the request is over. */
  release(): void {
    this.#isOver = true;
    for (const leave of this.#held.splice(0)) leave();
  }

  /** Allows only reads. @throws HttpError 405 for other methods than GET and HEAD */
  mustRead(): void {
    if (this.method !== "GET" && this.method !== "HEAD") throw methodNotAllowed(["GET", "HEAD"]);
  }

  /** A header of the request; null where it has none of this name. */
  header(name: string): string | null {
    return this.request.headers.get(name);
  }
}

export const REQUEST_ID_HEADER = "X-Request-ID";

const ACCEPTED = /^[A-Za-z0-9._-]{1,128}$/;

/** The id a request is known by: the one it brought when that is harmless, else 32 lowercase hexadecimal digits. */
export function requestId(incoming: string | null | undefined): string {
  return incoming && ACCEPTED.test(incoming) ? incoming : crypto.randomUUID().replaceAll("-", "");
}

/** The connection of a request, as `Deno.serve` describes it; absent where a test calls the app without a network. */
export interface RequestInfo {
  readonly remoteAddr?: Deno.Addr;
  /** Settles when the response is sent to its last byte, or its client is gone; absent for a HEAD. */
  readonly completed?: Promise<void>;
  /** Ends the connection of a client that does not read; absent if the server cannot do that. */
  breakOff?(): void;
  /** The raw target: a `Request` that one role of this process creates for another cannot hold it. */
  readonly target?: RawTarget;
  /** Set by another role of this process: {@link RequestContext.source}. */
  readonly source?: object;
  /** Set by another role of this process: the body, which has been read. */
  readonly body?: Uint8Array<ArrayBuffer>;
}

/** The content of a Hono context of ours: what the server says of the connection, and the context of the request. */
export interface HttpEnv {
  readonly Bindings: RequestInfo;
  readonly Variables: { readonly context: RequestContext };
}

/**
 * Middleware of an app. It sees responses only: errors of what comes after it are rendered before `next()` returns.
 * Headers are set on `c.res.headers`, since `c.header()` behind `next()` copies the response.
 */
export type Middleware = MiddlewareHandler<HttpEnv>;

/** Responds to a request, or throws an error that becomes an error response. */
export type Handler = (context: RequestContext) => Response | Promise<Response>;
