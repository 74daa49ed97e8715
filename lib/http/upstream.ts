import { handedOn } from "@/lib/std/body_reader.ts";
import { deadline } from "@/lib/std/deadline.ts";
import { StreamOfLength } from "./stream_of_length.ts";
import { needsNode, nodeExchange } from "./upstream_node.ts";
import type { UpstreamOptions, UpstreamRequest } from "./upstream_request.ts";

/** An answer whose body is still coming. */
export interface UpstreamResponse extends Response {
  /** Breaks the body off, also in the middle of `text()`. Absent where cancelling the body is the only way. */
  breakOff?: AbortController;
}

/** Sends a request and resolves with the response once its headers are there, its body unread and untouched. */
export type Upstream = (request: UpstreamRequest) => Promise<UpstreamResponse>;

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

/**
 * A client for upstream servers: no redirects, no decoding, no retries. Requests go through `fetch`, whose bodies pass
 * at the speed of the runtime; those it cannot carry faithfully go through node:http.
 *
 * It throws {@link UpstreamError}.
 */
export function upstream(options: UpstreamOptions): Upstream {
  // HTTP/2 costs more than it gives here: one connection for everybody, and a tail of slow answers.
  const client = Deno.createHttpClient({ caCerts: options.caCerts ? [...options.caCerts] : undefined, http2: false });
  return async function send(request) {
    if (request.signal?.aborted) throw new UpstreamError("aborted");
    const stopped = new AbortController();
    const problem = { kind: "broken" as UpstreamProblem };
    const stop = (kind: UpstreamProblem) => {
      problem.kind = kind;
      stopped.abort();
    };
    const inTime = deadline(request.timeoutMs ?? options.timeoutMs, () => stop("timeout"));
    const leave = () => stop("aborted");
    request.signal?.addEventListener("abort", leave, { once: true });
    const headers = unencoded(request.headers);
    if (request.body instanceof ReadableStream && !request.madeHere) handedOn(request.body);
    try {
      if (request.madeHere || needsNode(request, options.verifyTls)) {
        const body = request.body instanceof StreamOfLength ? request.body.stream() : request.body;
        return await nodeExchange({ ...request, headers, body }, options, stopped.signal);
      }
      const response: UpstreamResponse = await fetch(request.origin + request.target, {
        method: request.method,
        headers,
        body: request.body,
        redirect: "manual",
        signal: stopped.signal,
        client,
      });
      response.breakOff = stopped;
      return response;
    } catch (error) {
      if (!stopped.signal.aborted) {
        if (says(error, CLIENT_GONE)) problem.kind = "aborted";
        else if (isUnreachable(error)) problem.kind = "unreachable";
      }
      throw new UpstreamError(problem.kind, error);
    } finally {
      inTime();
      request.signal?.removeEventListener("abort", leave);
    }
  };
}

/** What is stored goes through as it is: nothing is to be compressed on the way. */
function unencoded(headers: UpstreamRequest["headers"]): UpstreamRequest["headers"] {
  if (!(headers instanceof Headers)) return { ...headers, "accept-encoding": "identity" };
  headers.set("Accept-Encoding", "identity");
  return headers;
}

const UNREACHABLE_CODES = /^(?:ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|ECONNABORTED)$/;
const UNREACHABLE_TEXT = /\(Connect\)|dns error|connection refused|invalid peer certificate|certificate/i;

/** What the runtime says of a request's body whose client has left, some time before the request's signal aborts. */
const CLIENT_GONE = /Cannot read request body/;

function isUnreachable(error: unknown): boolean {
  return says(error, UNREACHABLE_TEXT) ||
    causes(error).some((cause) => "code" in cause && UNREACHABLE_CODES.test(String(cause.code)));
}

function says(error: unknown, text: RegExp): boolean {
  return causes(error).some(({ message }) => text.test(message));
}

/** An error and what caused it, as far as it is worth looking. */
function causes(error: unknown): Error[] {
  const found: Error[] = [];
  for (let current = error; current instanceof Error && found.length < 5; current = current.cause) found.push(current);
  return found;
}
