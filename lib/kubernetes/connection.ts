import type { RequestOptions } from "node:https";
import { ClusterUnavailable } from "./cluster_unavailable.ts";
import { type Answer, exchange, type ExchangeLimits } from "./exchange.ts";
import { type LineLimits, streamLines } from "./line_stream.ts";

/** A Kubernetes API server and how it is entered. */
export interface ClusterEntry {
  /** Base of its addresses, perhaps with a path. */
  readonly server: string;
  /** Asks files or plugins, so it is not called for every request. */
  credentials(): Promise<Credentials>;
}

/** What makes a request ours. */
interface Credentials {
  /** Carries authorities and client certificates. */
  readonly agent: RequestOptions["agent"];
  readonly headers: Readonly<Record<string, string>>;
}

export interface ClusterRequest {
  readonly method: "GET" | "PATCH";
  /** Percent-encoded, from `/api` or `/apis` on. */
  readonly path: string;
  readonly query?: URLSearchParams;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
  readonly signal?: AbortSignal;
}

/** A Kubernetes API server and the credentials to speak to it. */
export interface ClusterConnection {
  /**
   * One request with its whole answer, whatever its status.
   *
   * @throws {ClusterUnavailable} when no whole answer came
   */
  send(request: ClusterRequest): Promise<Answer>;
}

/** A connection over which changes can be followed, too. */
export interface StreamingConnection extends ClusterConnection {
  /**
   * One request whose answer comes line by line, for as long as `limits` say; the result is its status. Lines of an
   * answer other than 200 are not handed over.
   *
   * @throws {ClusterUnavailable} when the answer did not end by itself; its cause is the TransferError
   */
  stream(
    request: ClusterRequest,
    limits: Pick<LineLimits, "idleMs" | "totalMs">,
    onLine: (line: Uint8Array) => void,
  ): Promise<number>;
}

export interface ConnectionOptions {
  /** ms since 1970 */
  readonly now: () => number;
  readonly limits?: Partial<ExchangeLimits>;
}

/** How long credentials are used before they are asked for again, ms. */
const CREDENTIALS_LIFETIME_MS = 30_000;

const LIMITS: ExchangeLimits = {
  connectMs: 3_000,
  idleMs: 10_000,
  totalMs: 30_000,
  // A page of 250 status records, each with its 200 KiB of failures, still fits.
  maxBytes: 64 * 1024 * 1024,
};

/** One event of a watch: objects have up to 1.5 MiB, which escapes in JSON may multiply. */
const MAX_LINE_BYTES = 16 * 1024 * 1024;

/**
 * A connection to a cluster. The exchange is our own and not the Kubernetes client's, for its limits and for `Accept`
 * headers that the client cannot send.
 */
export function connect({ server, credentials }: ClusterEntry, options: ConnectionOptions): StreamingConnection {
  const limits = { ...LIMITS, ...options.limits };
  const kept = keptCredentials(credentials, options.now);
  const ours = async ({ path, query, headers = {}, ...request }: ClusterRequest) => {
    const url = new URL(server);
    url.pathname = url.pathname.replace(/\/$/, "") + path;
    url.search = query?.toString() ?? "";
    const { agent, headers: authorization } = await kept.current();
    return { ...request, url, agent, headers: { Accept: "application/json", ...headers, ...authorization } };
  };
  return {
    async send(request) {
      try {
        const answer = await exchange(await ours(request), limits);
        if (answer.status === 401) kept.forget();
        return answer;
      } catch (error) {
        throw new ClusterUnavailable(error);
      }
    },
    async stream(request, { idleMs, totalMs }, onLine) {
      try {
        const { connectMs } = limits;
        const status = await streamLines(
          await ours(request),
          { connectMs, idleMs, totalMs, maxLineBytes: MAX_LINE_BYTES },
          onLine,
        );
        if (status === 401) kept.forget();
        return status;
      } catch (error) {
        throw new ClusterUnavailable(error);
      }
    },
  };
}

/** Credentials are kept for a moment, and everybody waits for the same question. */
function keptCredentials(ask: () => Promise<Credentials>, now: () => number) {
  let kept: { readonly value: Promise<Credentials>; readonly at: number } | null = null;
  const forget = () => kept = null;
  return {
    forget,
    current(): Promise<Credentials> {
      if (!kept || now() - kept.at >= CREDENTIALS_LIFETIME_MS) {
        kept = { value: ask(), at: now() };
        kept.value.catch(forget);
      }
      return kept.value;
    },
  };
}
