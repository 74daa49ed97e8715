import { deadline } from "@/lib/std/deadline.ts";
import { needsNode, sendByNode } from "./node_transport.ts";
import { problemOf, UpstreamError } from "./upstream_error.ts";
import type { UpstreamResponse } from "@/lib/http/read_capped.ts";
import { markReadAhead } from "@/lib/runtime/request_body.ts";
import { FETCHES_STREAM_OF_LENGTH, StreamOfLength } from "@/lib/runtime/stream_of_length.ts";
import type { UpstreamClient, UpstreamOptions, UpstreamRequest, UpstreamResult } from "./upstream_request.ts";

/**
 * The client towards all upstream servers. Requests go through `fetch`, whose bodies pass at the speed of the runtime;
 * those that it cannot send faithfully go through node:http.
 */
export function upstreamClient(options: UpstreamOptions): UpstreamClient {
  let fetchClient: Deno.HttpClient | undefined;
  const { measure, trace } = options;
  return {
    async send(request) {
      const { signal } = request;
      if (signal?.aborted) throw new UpstreamError("aborted");
      const startedAt = performance.now();
      let result: UpstreamResult = "broken";
      const stopped = new AbortController();
      const stop = (problem: "timeout" | "aborted") => stopped.abort(new UpstreamError(problem));
      const late = () => stop("timeout");
      const timeoutMs = request.timeoutMs ?? options.timeoutMs;
      let inTime = deadline(request.connectMs ?? timeoutMs, late, startedAt);
      const onAbort = () => stop("aborted");
      signal?.addEventListener("abort", onAbort, { once: true });
      const operation = request.operation ?? request.method;
      const span = trace?.(operation) ?? null;
      const headers = unencoded(request.headers);
      if (span) setHeader(headers, "traceparent", span.traceParent);
      if (request.body instanceof ReadableStream && !request.reusesMemory) markReadAhead(request.body);
      try {
        const isUnfit = request.body instanceof StreamOfLength && !FETCHES_STREAM_OF_LENGTH;
        if (request.reusesMemory || isUnfit || needsNode(request, options.verifyTls)) {
          const body = request.body instanceof StreamOfLength ? request.body.stream() : request.body;
          const response = await sendByNode({ ...request, headers, body }, options, stopped.signal, () => {
            if (request.connectMs === undefined || stopped.signal.aborted) return;
            inTime();
            inTime = deadline(timeoutMs, late);
          });
          result = response.status;
          return response;
        }
        // HTTP/2 costs more than it gains here: all requests share one connection, and slow responses come in its tail.
        fetchClient ??= Deno.createHttpClient({ caCerts: options.caCerts && [...options.caCerts], http2: false });
        const response: UpstreamResponse = await fetch(request.origin + request.target, {
          method: request.method,
          headers,
          body: request.body,
          redirect: "manual",
          signal: stopped.signal,
          client: fetchClient,
        });
        response.breakOff = stopped;
        result = response.status;
        return response;
      } catch (error) {
        const failure: UpstreamError = stopped.signal.aborted
          ? stopped.signal.reason
          : new UpstreamError(problemOf(error), error);
        result = failure.problem;
        throw failure;
      } finally {
        span?.ended(result);
        measure?.(operation, result, performance.now() - startedAt);
        inTime();
        signal?.removeEventListener("abort", onAbort);
      }
    },
  };
}

function setHeader(headers: Headers | Record<string, string>, name: string, value: string): void {
  if (headers instanceof Headers) headers.set(name, value);
  else headers[name] = value;
}

/** Stored bytes pass as they are: no server may compress them on the way. */
function unencoded(headers: UpstreamRequest["headers"]): Headers | Record<string, string> {
  if (!(headers instanceof Headers)) return { ...headers, "accept-encoding": "identity" };
  headers.set("Accept-Encoding", "identity");
  return headers;
}
