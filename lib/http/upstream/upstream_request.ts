import type { RequestOptions } from "node:https";
import type { UpstreamResponse } from "@/lib/http/read_capped.ts";
import type { StreamOfLength } from "@/lib/runtime/stream_of_length.ts";
import type { UpstreamProblem } from "./upstream_error.ts";

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
  /** What the service calls it, one of a few names without anything of the caller; the method when absent. */
  readonly operation?: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Percent-encoded path and query, sent exactly like this. */
  readonly target: string;
  /** A plain record where there are few: `fetch` reads that at half the cost. */
  readonly headers: Headers | Readonly<Record<string, string>>;
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
