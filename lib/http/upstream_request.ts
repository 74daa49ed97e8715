import { StreamOfLength } from "./stream_of_length.ts";

export interface UpstreamOptions {
  /** Certificates (PEM) to trust beside the usual ones. */
  readonly caCerts?: readonly string[];
  /** Whether certificates are verified; false must be asked for. */
  readonly verifyTls: boolean;
  /** Until the response headers, ms. */
  readonly timeoutMs: number;
}

/** One request to an upstream server. */
export interface UpstreamRequest {
  readonly method: string;
  /** Scheme, host and port. */
  readonly origin: string;
  /** Percent-encoded path and query, sent exactly like this. */
  readonly target: string;
  /** As a plain record where there are few: `fetch` reads that at half the cost. */
  readonly headers: Headers | Readonly<Record<string, string>>;
  /** A stream is sent as it comes and must have its Content-Length in `headers`. */
  readonly body?: ReadableStream<Uint8Array<ArrayBuffer>> | StreamOfLength | Uint8Array<ArrayBuffer> | string | null;
  /** The stream uses its memory again: only node:http tells when a piece has been written. */
  readonly madeHere?: boolean;
  /** Whoever waits for the answer; aborting stops the request until its headers have come. */
  readonly signal?: AbortSignal;
  /** Until the response headers, ms; the client's own limit when absent. */
  readonly timeoutMs?: number;
}
