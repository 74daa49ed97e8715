import { Buffer } from "node:buffer";
import { Agent as HttpAgent, type IncomingMessage, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from "node:https";
import { createSecureContext, type SecureContext, type SecureContextOptions } from "node:tls";
import { FETCHES_STREAM_OF_LENGTH, FREES_WRITTEN_CHUNKS, markReadAhead, StreamOfLength } from "@/lib/runtime/http.ts";
import {
  announcedLength,
  type BodyReader,
  BodyTooLong,
  boundedReader,
  deadline,
  readWhole,
  SHORT_BODY_MS,
  SlowBody,
  STREAM_BOUNDS,
  streamReader,
  type TimeBounds,
  unreadMs,
  UNWATCHED_BYTES,
  withDeadline,
} from "@/lib/std/body_reader.ts";
import type { Coded } from "@/lib/std/coded.ts";
import { badGateway, clientClosedRequest, gatewayTimeout, type HttpError } from "./errors.ts";
import { hasDotSegment, type RequestContext, type RequestInfo } from "./request_context.ts";

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
      // Stored bytes pass as they are: no server may compress them on the way.
      const headers: Record<string, string> = { ...request.headers, "accept-encoding": "identity" };
      if (span) headers.traceparent = span.traceParent;
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

const BODILESS = new Set([204, 205, 304]);

/** Characters that `fetch` rewrites in a URL: it encodes quotes and the like, and turns a backslash into a slash. */
const REWRITTEN = /["'<>\\^`{|}]/;

/**
 * Whether only node:http sends a request faithfully: `fetch` folds dot segments, rewrites characters, always verifies
 * certificates and takes no agent.
 */
function needsNode(
  { origin, target, agent }: Pick<UpstreamRequest, "origin" | "target" | "agent">,
  verifyTls: boolean,
): boolean {
  return agent !== undefined || hasDotSegment(target.split("?", 1)[0]) || REWRITTEN.test(target) ||
    (!verifyTls && origin.startsWith("https:"));
}

/** A request whose stream has its length in a header. */
type NodeRequest = UpstreamRequest & { readonly body?: Exclude<UpstreamRequest["body"], Blob> };

/**
 * The same contract as `fetch` without redirects, over node:http(s).
 *
 * A stream gets a new connection. On a reused one, the runtime (Deno 2.9) sends a request again, even after it was
 * destroyed, from the chunks that it was given: their memory may hold other bytes by then.
 *
 * @param connected called when the connection stands
 */
function sendByNode(
  request: NodeRequest,
  { caCerts, verifyTls }: Pick<UpstreamOptions, "caCerts" | "verifyTls">,
  signal: AbortSignal,
  connected: () => void,
): Promise<Response> {
  const { hostname, port, protocol } = new URL(request.origin);
  return new Promise((resolve, reject) => {
    const secure = protocol === "https:";
    const agents = request.body instanceof ReadableStream ? fresh : pooled;
    const outgoing = (secure ? httpsRequest : httpRequest)({
      hostname: hostname.replace(/^\[|\]$/g, ""),
      port: port || (secure ? 443 : 80),
      path: request.target,
      method: request.method,
      headers: headersOf(request),
      agent: request.agent ?? (secure ? agents.secure(caCerts, verifyTls) : agents.plain),
    });
    const cut = () => {
      // Otherwise the runtime would send it again on another connection.
      outgoing.reusedSocket = false;
      // A connection that was never established may emit no error.
      reject(signal.reason);
      outgoing.destroy(new Error("aborted"));
    };
    signal.addEventListener("abort", cut, { once: true });
    outgoing.on("socket", (socket) => {
      if (!socket.connecting) connected();
      else socket.once(secure ? "secureConnect" : "connect", connected);
    });
    outgoing.on("error", (error) => {
      signal.removeEventListener("abort", cut);
      reject(error);
    });
    outgoing.on("response", (incoming) => {
      signal.removeEventListener("abort", cut);
      incoming.once("end", () => cutUnsent(outgoing));
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

/** The headers of a request. Without a body it has no length: the server would take the next request for its bytes. */
function headersOf({ headers, body }: NodeRequest): Record<string, string> {
  const record = { ...headers };
  if (body !== undefined && body !== null) return record;
  for (const name in record) {
    const lower = name.toLowerCase();
    if (lower === "transfer-encoding" || (lower === "content-length" && record[name] !== "0")) delete record[name];
  }
  return record;
}

/** Agents that keep connections for later requests, or that open one for each. */
function agentsThat(keepAlive: boolean) {
  const known = new Map<string, HttpsAgent>();
  return {
    plain: new HttpAgent({ keepAlive }),
    secure(caCerts: readonly string[] | undefined, verifyTls: boolean): HttpsAgent {
      const name = JSON.stringify([caCerts ?? [], verifyTls]);
      let agent = known.get(name);
      if (!agent) {
        agent = new HttpsAgent({ keepAlive, rejectUnauthorized: verifyTls, ...tlsTrust(caCerts) });
        known.set(name, agent);
      }
      return agent;
    },
  };
}

const pooled = agentsThat(true);
const fresh = agentsThat(false);

type Outgoing = ReturnType<typeof httpRequest>;

/** A server that responds early may never read the rest of the body, which would wait forever (RFC 9112 §9.5). */
function cutUnsent(outgoing: Outgoing): void {
  if (!outgoing.writableFinished) outgoing.destroy();
}

/** The next chunk of a stream is read when the one before has been written: its memory may be used again then. */
async function sendBody(body: NodeRequest["body"], outgoing: Outgoing): Promise<void> {
  if (typeof body === "string" || body instanceof Uint8Array) {
    outgoing.setHeader("Content-Length", Buffer.byteLength(body));
    outgoing.write(body);
  } else if (body) {
    const reader = body.getReader();
    // Otherwise the head would wait for the first bytes, and with it an error response that needs none.
    outgoing.flushHeaders();
    outgoing.once("close", () => reader.cancel().catch(() => {}));
    let sentBytes = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      sentBytes += value.length;
      if (!await written(outgoing, value)) return;
    }
    // The connection is reused after an early response: the next request would be read as the missing bytes.
    if (sentBytes !== announcedBytes(outgoing, sentBytes)) throw new Error("the body is not as long as announced");
  }
  outgoing.end();
}

function announcedBytes(outgoing: Outgoing, otherwise: number): number {
  const length = outgoing.getHeader("content-length");
  return length === undefined ? otherwise : Number(length);
}

/** Resolves with whether bytes were written; false if the connection has ended. */
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
  let isClosed = false;
  incoming.pause();
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      const finish = (error?: Error) => {
        if (isClosed) return;
        isClosed = true;
        if (error) controller.error(error);
        else controller.close();
      };
      const broken = () => finish(new Error("cut short"));
      incoming.on("data", (chunk: Buffer) => {
        if (isClosed) return;
        controller.enqueue(new Uint8Array(chunk));
        incoming.pause();
      });
      incoming.on("end", () => incoming.complete ? finish() : broken());
      incoming.on("error", finish);
      incoming.on("aborted", broken);
      // Some breaks cause no other event; after a whole body "end" still comes.
      incoming.on("close", () => incoming.complete || broken());
    },
    pull() {
      incoming.resume();
    },
    cancel() {
      isClosed = true;
      incoming.destroy();
    },
  }, { highWaterMark: 1 });
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}

/** Options of node:https that say whose certificates are trusted. */
interface TlsTrust {
  readonly ca: string;
  readonly secureContext: SecureContext;
}

/**
 * Trusts the runtime's authorities and `more` (PEM), as `fetch` with `caCerts` does. node:https alone would replace the
 * runtime's authorities.
 *
 * @param client certificate and key of the client, if it has any
 */
export function tlsTrust(more: readonly string[] = [], client: SecureContextOptions = {}): TlsTrust {
  const secureContext = createSecureContext({ ...client, ca: undefined });
  for (const pem of more) secureContext.context.addCACert(pem);
  // Where `ca` is missing and NODE_EXTRA_CA_CERTS is set, Deno 2.9 lists its authorities, for which it needs --allow-sys.
  return { ca: "", secureContext };
}

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

/** Starts the span of a request to an upstream. @returns null if nothing is traced */
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
   * An agent of node:http(s) with its authorities, client certificate or proxy. It replaces the trust of the client's
   * options.
   */
  readonly agent?: RequestOptions["agent"];
  /** Aborts the request until its response headers have come. */
  readonly signal?: AbortSignal;
  /** Timeout for the connection of an `agent`, ms; `timeoutMs` counts from then on. */
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
function problemOf(error: unknown): UpstreamProblem {
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

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

/**
 * The body of an upstream's response as a client gets it, bounded in time: when the upstream or the client takes too
 * long, both connections are broken off, so that a part is not taken for the whole.
 *
 * A short body of known length is passed on untouched where the server can break off its connection: it does that when
 * the response has not been sent in the time that its length allows. Without a connection the caller is another role of
 * this process, which watches the body itself.
 */
export function boundedBody(
  response: Response,
  info: RequestInfo | undefined,
  bounds: TimeBounds = STREAM_BOUNDS,
): Body | null {
  const { body } = response;
  if (!body || !info?.completed) return body;
  const lengthBytes = announcedLength(response);
  if (info.breakOff && lengthBytes !== null && lengthBytes <= UNWATCHED_BYTES) return body;
  return guardedBody(body, { bounds, unread: () => info.breakOff?.(), freesChunks: true });
}

/** Whether the memory of a chunk of a response may be freed with the next one: the runtime writes it to a connection. */
export function freesWrittenChunks(info: RequestInfo | undefined): boolean {
  return FREES_WRITTEN_CHUNKS && info?.completed !== undefined;
}

interface GuardedBodyOptions extends Omit<GuardOptions, "what"> {
  /** Whether the runtime writes the body to a connection, so that the memory of a chunk is freed with the next one. */
  readonly freesChunks?: boolean;
}

/** Passes an upstream's body on chunk by chunk, as {@link guardedStream} does. */
export function guardedBody(body: Body, { freesChunks = false, ...options }: GuardedBodyOptions): Body {
  const reader = streamReader(body, { freesChunks: freesChunks && FREES_WRITTEN_CHUNKS });
  return guardedStream(boundedReader(reader, { bounds: options.bounds }), { what: "a response", ...options });
}

interface GuardOptions {
  /** The subject of the stream's error, such as `an upload`. */
  readonly what: string;
  /** Called with the reason when `read` throws. */
  readonly broken?: (error: unknown) => void;
  /** Called when the consumer reads nothing more, after the stream has failed: its connection must be ended. */
  readonly unread?: () => void;
  /** Time limits for the consumer; {@link STREAM_BOUNDS} when absent. */
  readonly bounds?: TimeBounds;
}

/**
 * Passes a body on chunk by chunk, as its consumer reads. When `read` throws, the stream fails, so that a part is not
 * taken for the whole. When the consumer cancels, or reads nothing for too long, the reader is cancelled.
 */
export function guardedStream(
  reader: BodyReader,
  { what, broken, unread, bounds = STREAM_BOUNDS }: GuardOptions,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const maxUnreadMs = unreadMs(bounds);
  let isOver = false;
  let release = () => {};
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    async pull(controller) {
      release();
      try {
        const chunk = await reader.read();
        if (isOver) return;
        if (chunk === null) return controller.close();
        controller.enqueue(chunk);
        release = deadline(maxUnreadMs, () => {
          isOver = true;
          controller.error(new BrokenStream(`${what} was not read`));
          reader.cancel();
          unread?.();
        });
      } catch (error) {
        if (isOver) return;
        broken?.(error);
        controller.error(new BrokenStream(`${what} broke off`));
        reader.cancel();
      }
    },
    cancel() {
      isOver = true;
      release();
      reader.cancel();
    },
  }, { highWaterMark: 0 });
}

/** The error of a failed stream. The server prints it, so it says nothing about the upstream, on one line. */
class BrokenStream extends Error {
  override readonly name = "BrokenStream";
  override readonly stack = `${this.name}: ${this.message}`;
}

/**
 * A body that is generated while it is read. Awaits the first chunks, so that their errors become an error response; a later
 * error breaks the connection off.
 *
 * @param what the subject of the error, such as `a report`
 * @throws what `chunks` throws before anything is sent
 */
export async function streamedText(
  chunks: AsyncGenerator<string>,
  what: string,
  context: RequestContext,
): Promise<ReadableStream<Uint8Array<ArrayBuffer>>> {
  const encoder = new TextEncoder();
  const next = async () => {
    const { done, value } = await chunks.next();
    return done ? null : encoder.encode(value);
  };
  const ahead = [await next(), await next()];
  const reader: BodyReader = {
    async read() {
      for (;;) {
        const chunk = ahead.length > 0 ? ahead.shift() ?? null : await next();
        if (chunk === null || chunk.length > 0) return chunk;
      }
    },
    cancel: () => void chunks.return(undefined),
  };
  return guardedStream(reader, { what, unread: () => context.info?.breakOff?.() });
}

/** A response whose body is still coming. */
export interface UpstreamResponse extends Response {
  /** Breaks the body off, also while it is read. Absent where cancelling the body is the only way. */
  breakOff?: AbortController;
}

/** Reads a whole body as text (UTF-8, malformed bytes replaced). @throws as {@link readCappedBytes} */
export async function readCapped(
  response: UpstreamResponse,
  capBytes: number,
  totalMs: number = SHORT_BODY_MS,
): Promise<string> {
  return new TextDecoder().decode(await readCappedBytes(response, capBytes, totalMs));
}

/**
 * Reads a whole body.
 *
 * @param capBytes most bytes that are taken; a longer body is cancelled
 * @param totalMs total deadline of the body
 * @throws BodyTooLong, SlowBody, or what breaks the stream
 */
export async function readCappedBytes(
  response: UpstreamResponse,
  capBytes: number,
  totalMs: number = SHORT_BODY_MS,
): Promise<Uint8Array<ArrayBuffer>> {
  if (!response.body) return new Uint8Array(0);
  // The announced length of an encoded body is not that of what is read.
  const announced = response.headers.has("content-encoding") ? null : announcedLength(response);
  if (announced !== null && announced > capBytes) {
    response.body.cancel().catch(() => {});
    throw new BodyTooLong(capBytes);
  }
  const { breakOff } = response;
  // Read in one call: in a short body, each chunk would cost more than all the rest. A long one would take its length three
  // times outside of V8's heap (chunks, copies, the whole), and V8 would collect all of its memory every few bodies.
  if (announced !== null && breakOff) {
    return await withDeadline(totalMs, {
      work: () => response.bytes(),
      cancel: () => breakOff.abort(),
      late: () => new SlowBody(`not whole after ${totalMs} ms`),
    });
  }
  return await readWhole(streamReader(response.body), { maxBytes: capBytes, totalMs });
}
