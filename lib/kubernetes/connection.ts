import type { RequestOptions } from "node:https";
import { ClusterUnavailable } from "./cluster_unavailable.ts";
import { type Answer, exchange, type ExchangeLimits } from "./exchange.ts";

/** A Kubernetes API server and how it is entered. */
export interface ClusterEntry {
  /** Base of its addresses, perhaps with a path. */
  readonly server: string;
  /** Asks files or plugins, so it is not called for every request. */
  credentials(): Promise<Credentials>;
}

/** What makes a request ours. */
export interface Credentials {
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

/**
 * A connection to a cluster. The exchange is our own and not the Kubernetes client's, for its limits and for `Accept`
 * headers that the client cannot send.
 */
export function connect({ server, credentials }: ClusterEntry, options: ConnectionOptions): ClusterConnection {
  const limits = { ...LIMITS, ...options.limits };
  const kept = keptCredentials(credentials, options.now);
  return {
    async send({ path, query, headers = {}, ...request }) {
      const url = new URL(server);
      url.pathname = url.pathname.replace(/\/$/, "") + path;
      url.search = query?.toString() ?? "";
      try {
        const { agent, headers: authorization } = await kept.current();
        const answer = await exchange({
          ...request,
          url,
          agent,
          headers: { Accept: "application/json", ...headers, ...authorization },
        }, limits);
        if (answer.status === 401) kept.forget();
        return answer;
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
