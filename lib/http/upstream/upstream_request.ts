import type { RequestOptions } from "node:https";
import { badGateway, clientClosedRequest, gatewayTimeout, type HttpError } from "@/lib/http/errors.ts";
import type { UpstreamResponse } from "@/lib/http/response_body.ts";
import type { StreamOfLength } from "@/lib/runtime/stream_of_length.ts";
import type { Coded } from "@/lib/std/coded.ts";

export interface UpstreamOptions {
  /** Certificates (PEM) to trust beside the usual ones. */
  readonly caCerts?: readonly string[];
  /** Whether certificates are verified. */
  readonly verifyTls: boolean;
  /** Until the response headers, ms. */
  readonly timeoutMs: number;
  /** Called at the end of every request. */
  readonly measure?: MeasureUpstream;
  readonly trace?: TraceUpstream;
}

/** Begins the span of a request to an upstream. @returns null where nothing is traced */
export type TraceUpstream = (operation: string) => {
  /** Sent as a header. */
  readonly traceParent: string;
  ended(result: UpstreamResult): void;
} | null;

/** How a request ended: with a status, or without a response. */
export type UpstreamResult = number | UpstreamProblem;

/**
 * @param operation of the request
 * @param milliseconds until the response headers
 */
export type MeasureUpstream = (operation: string, result: UpstreamResult, milliseconds: number) => void;

/** One request to an upstream server. */
export interface UpstreamRequest {
  readonly method: string;
  /** Its name at the service, one of a few without anything of the caller; the method when absent. */
  readonly operation?: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Percent-encoded path and query, sent exactly like this. */
  readonly target: string;
  /** A plain record: `fetch` reads that at half the cost of `Headers`. */
  readonly headers: Readonly<Record<string, string>>;
  /** A stream is sent as it comes and must have its Content-Length in `headers`. */
  readonly body?: ReadableStream<Uint8Array<ArrayBuffer>> | StreamOfLength | Uint8Array<ArrayBuffer> | string | null;
  /** The stream uses its memory again, so its chunks go through node:http, which reports when each is written. */
  readonly reusesMemory?: boolean;
  /**
   * An agent of node:http(s) with authorities, a client certificate or a proxy of its own. It replaces the trust of the
   * client's options.
   */
  readonly agent?: RequestOptions["agent"];
  /** Aborts the request until its response headers have come. */
  readonly signal?: AbortSignal;
  /** Until the connection of an `agent` stands, ms; then `timeoutMs` begins. */
  readonly connectMs?: number;
  /** Until the response headers, ms; the client's own limit when absent. */
  readonly timeoutMs?: number;
}

/** Sends requests to upstream servers: no redirects, no decoding, no retries. */
export interface UpstreamClient {
  /**
   * Resolves with the response once its headers are there, its body unread and untouched.
   *
   * @throws {UpstreamError}
   */
  send(request: UpstreamRequest): Promise<UpstreamResponse>;
}

/** Why there is no response. */
type UpstreamProblem = "unreachable" | "timeout" | "aborted" | "broken";

export class UpstreamError extends Error {
  override readonly name = "UpstreamError";
  readonly problem: UpstreamProblem;

  constructor(problem: UpstreamProblem, cause?: unknown) {
    super(`upstream ${problem}`, { cause });
    this.problem = problem;
  }
}

/** The messages for the failures of one upstream. */
export interface FailureDetails {
  readonly unreachable: string;
  readonly timeout: string;
  readonly broken: string;
  readonly codes?: Readonly<Record<"unreachable" | "timeout" | "broken", Coded>>;
}

/**
 * The error response for a request that has no upstream response.
 *
 * @param error what the upstream client threw; any other error counts as a broken connection
 * @returns 502 for an upstream that is unreachable or broke off, 504 for one that is late, 499 when the client has left
 */
export function upstreamFailure(error: unknown, details: FailureDetails): HttpError {
  const problem = error instanceof UpstreamError ? error.problem : "broken";
  if (problem === "aborted") return clientClosedRequest();
  const coded = details.codes?.[problem];
  return problem === "timeout" ? gatewayTimeout(details.timeout, coded) : badGateway(details[problem], error, coded);
}

const UNREACHABLE_CODES = /^(?:ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|ECONNABORTED)$/;
const UNREACHABLE_TEXT = /\(Connect\)|dns error|connection refused|invalid peer certificate|certificate/i;

/** The runtime's message for a request body whose client has left, which comes before the request's signal aborts. */
const CLIENT_GONE = /Cannot read request body/;

/** The problem behind an error of `fetch` or node:http. */
export function problemOf(error: unknown): UpstreamProblem {
  const causes = causesOf(error);
  const matches = (text: RegExp) => causes.some(({ message }) => text.test(message));
  if (matches(CLIENT_GONE)) return "aborted";
  const hasCode = causes.some((cause) => "code" in cause && UNREACHABLE_CODES.test(String(cause.code)));
  return hasCode || matches(UNREACHABLE_TEXT) ? "unreachable" : "broken";
}

/** An error and its causes, at most five. */
function causesOf(error: unknown): Error[] {
  const found: Error[] = [];
  for (let current = error; current instanceof Error && found.length < 5; current = current.cause) found.push(current);
  return found;
}
