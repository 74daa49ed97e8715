import { Buffer } from "node:buffer";
import type { RequestOptions } from "node:https";
import { HttpError } from "@/lib/http/errors.ts";
import { type MeasureUpstream, type TraceUpstream, upstreamClient } from "@/lib/http/upstream.ts";
import { type BodyReader, boundedReader, endedBy, readWhole, streamReader } from "@/lib/std/body_reader.ts";
import { SharedReads } from "@/lib/std/caches.ts";
import { parsedJson, stringAt } from "@/lib/std/untrusted.ts";

/**
 * The cluster could not be read: no response, a late one, an error or an unreadable one. For clients of the API all of
 * that is one condition, a 502 with a fixed sentence; the cause stays inside.
 */
export class ClusterUnavailable extends HttpError {
  /** @param cause what happened, without credentials */
  constructor(cause: unknown) {
    super(502, "the cluster did not answer", { cause });
  }
}

/** The account may not do what was requested: a right is missing, so another attempt fails as well. */
export class ClusterForbidden extends ClusterUnavailable {
  constructor() {
    super("status 403");
  }
}

/** A Kubernetes API server and its credentials. */
export interface ClusterEntry {
  /** Base of its addresses, perhaps with a path. */
  readonly server: string;
  /** Reads files or runs plugins, so it is not called for every request. */
  credentials(): Promise<Credentials>;
}

/** Authenticates a request. */
interface Credentials {
  /** Carries authorities, client certificates and the proxy. */
  readonly agent: RequestOptions["agent"];
  readonly headers: Readonly<Record<string, string>>;
}

export interface ClusterRequest {
  readonly method: "GET" | "PATCH";
  /** Percent-encoded, from `/api` or `/apis` on. */
  readonly path: string;
  readonly query?: URLSearchParams;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array<ArrayBuffer>;
  readonly signal?: AbortSignal;
}

interface ClusterResponse {
  readonly status: number;
  readonly body: Uint8Array;
}

/** A Kubernetes API server and the credentials to speak to it. */
export interface ClusterConnection {
  /**
   * One request with its whole response, whatever its status.
   *
   * @throws {ClusterUnavailable} when no whole response came
   */
  send(request: ClusterRequest): Promise<ClusterResponse>;
}

/** A connection over which changes can be followed, too. */
export interface StreamingConnection extends ClusterConnection {
  /**
   * Sends one request and passes on the lines of a 200 response as they come, without their ends; blank ones are left
   * out, and so is a last one that does not end.
   *
   * @returns the status
   * @throws {ClusterUnavailable} when the response did not end by itself; its cause says why
   */
  stream(
    request: ClusterRequest,
    limits: Pick<ConnectionLimits, "idleMs" | "totalMs">,
    onLine: (line: Uint8Array) => void,
  ): Promise<number>;
}

export interface ConnectionLimits {
  /** Until the connection stands, ms. */
  readonly connectMs: number;
  /** Idle timeout once it stands, ms. */
  readonly idleMs: number;
  /** Until the last byte, ms. */
  readonly totalMs: number;
  /** Largest body of a response. */
  readonly maxBytes: number;
}

export interface ConnectionOptions {
  /** ms since 1970 */
  readonly now: () => number;
  readonly limits?: Partial<ConnectionLimits>;
  /** Called at the end of every request. */
  readonly measure?: MeasureUpstream;
  readonly trace?: TraceUpstream;
}

/** How long credentials are used before they are read again, ms. */
const CREDENTIALS_LIFETIME_MS = 30_000;

const LIMITS: ConnectionLimits = {
  connectMs: 3_000,
  idleMs: 10_000,
  totalMs: 30_000,
  // A page of 250 status records, each with its 200 KiB of failures, still fits.
  maxBytes: 64 * 1024 * 1024,
};

/** One event of a watch: objects have up to 1.5 MiB, which escapes in JSON may multiply. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;
/** Largest body of an error response to a watch. */
const MAX_ERROR_BYTES = 64 * 1024;

/**
 * Connects to a cluster. Requests go through the client for all upstreams instead of the Kubernetes client, for its limits
 * and for `Accept` headers that the Kubernetes client cannot send.
 */
export function connect({ server, credentials }: ClusterEntry, options: ConnectionOptions): StreamingConnection {
  const limits = { ...LIMITS, ...options.limits };
  const client = upstreamClient({
    verifyTls: true,
    timeoutMs: limits.idleMs,
    measure: options.measure,
    trace: options.trace,
  });
  const cached = new SharedReads<Credentials>(CREDENTIALS_LIFETIME_MS, options.now, 1);

  /** Sends a request and has `consume` read the body of the response. @returns the status */
  async function transfer(
    { path, query, headers, signal, ...request }: ClusterRequest,
    { idleMs, totalMs }: Pick<ConnectionLimits, "idleMs" | "totalMs">,
    consume: (reader: BodyReader, status: number) => Promise<void>,
  ): Promise<number> {
    try {
      const url = new URL(server);
      url.pathname = url.pathname.replace(/\/$/, "") + path;
      url.search = query?.toString() ?? "";
      const { agent, headers: authorization } = await cached.read(server, credentials);
      const startedAt = performance.now();
      const response = await client.send({
        ...request,
        operation: operationName(request.method, path, query),
        origin: url.origin,
        target: url.pathname + url.search,
        headers: { Accept: "application/json", ...headers, ...authorization },
        agent,
        signal,
        connectMs: limits.connectMs,
        timeoutMs: Math.min(idleMs, totalMs),
      });
      const { status, body } = response;
      if (status === 401) cached.forget(server);
      const leftMs = totalMs - (performance.now() - startedAt);
      if (body) {
        const bounds = { idleMs, slackMs: leftMs, minBytesPerSecond: Infinity };
        const bounded = boundedReader(streamReader(body), { bounds });
        const reader = signal ? endedBy(signal, bounded) : bounded;
        await consume(reader, status).finally(() => reader.cancel());
        signal?.throwIfAborted();
      }
      return status;
    } catch (error) {
      throw new ClusterUnavailable(error);
    }
  }

  return {
    async send(request) {
      let whole = new Uint8Array(0);
      const status = await transfer(request, limits, async (reader) => {
        whole = await readWhole(reader, { maxBytes: limits.maxBytes });
      });
      return { status, body: whole };
    },
    stream(request, limits, onLine) {
      const lines = lineSplitter(MAX_LINE_BYTES, onLine);
      return transfer(request, limits, async (reader, status) => {
        if (status !== 200) return void await readWhole(reader, { maxBytes: MAX_ERROR_BYTES });
        for (let chunk; (chunk = await reader.read());) lines(chunk);
      });
    },
  };
}

/** Whether the API server responds, for readiness; every account may read its version. Never throws. */
export async function clusterReachable(connection: ClusterConnection): Promise<boolean> {
  try {
    const { status, body } = await connection.send({ method: "GET", path: "/version" });
    return status === 200 && stringAt(parsedJson(body), "gitVersion") !== null;
  } catch {
    return false;
  }
}

/** The collection of a path, and the name of one of its objects. */
const NAMESPACED = /\/namespaces\/[^/]+\/(jobs|pods|configmaps)(\/|$)/;

/** The name of a request in metrics, such as `list jobs`. */
function operationName(method: string, path: string, query?: URLSearchParams): string {
  const [, collection, name] = path.match(NAMESPACED) ?? [];
  if (collection === undefined) return "other";
  if (method !== "GET") return `${method.toLowerCase()} ${collection}`;
  if (query?.has("watch")) return `watch ${collection}`;
  return `${name === "" ? "list" : "get"} ${collection}`;
}

/** A line that does not end within its limit. Another request for it would bring it again. */
export class LineTooLong extends Error {
  override readonly name = "LineTooLong";
}

const NEWLINE = 0x0a;

/**
 * Returns a function that takes chunks and calls `onLine` with their lines, without line ends and without blank lines. No
 * more than one line is held; the function throws {@link LineTooLong} for a longer one.
 */
export function lineSplitter(maxLineBytes: number, onLine: (line: Uint8Array) => void): (chunk: Uint8Array) => void {
  let chunks: Uint8Array[] = [];
  let length = 0;
  const hold = (chunk: Uint8Array) => {
    length += chunk.length;
    if (length > maxLineBytes) throw new LineTooLong(`a line is longer than ${maxLineBytes} bytes`);
    chunks.push(chunk);
  };
  return (chunk) => {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      hold(chunk.subarray(start, end));
      const line = chunks.length === 1 ? chunks[0] : Buffer.concat(chunks);
      chunks = [];
      length = 0;
      start = end + 1;
      if (line.length > 0) onLine(line);
    }
    if (start < chunk.length) hold(chunk.subarray(start));
  };
}
