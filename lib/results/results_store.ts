import type { Caller, S3Keys } from "@/lib/auth/store_credentials.ts";
import { type UpstreamClient, UpstreamError } from "@/lib/http/upstream/upstream_request.ts";
import type { S3 } from "@/lib/s3/client.ts";

/** The one bucket that the results role reads. */
export interface ResultsStore {
  readonly s3: S3;
  /** The tenant of the S3 endpoint; null where the store has only one. */
  readonly tenant: string | null;
  readonly bucket: string;
  /** Keys of the readiness probe; without them it is unsigned, which some stores do not answer. */
  readonly probeKeys?: S3Keys | null;
}

/** Until the store's response headers, ms. */
const READ_TIMEOUT_MS = 30_000;
const ATTEMPTS = 2;

/** A store with one retry after a failed connection. The results role only reads, so a retry is safe. */
export function retryingStore(store: ResultsStore): ResultsStore {
  return { ...store, s3: { ...store.s3, upstream: withRetry(store.s3.upstream) } };
}

/** A session's user as a caller of the store. */
export function storeCaller({ tenant }: ResultsStore, user: string, keys: S3Keys, signal?: AbortSignal): Caller {
  return { username: user, tenant, s3: keys, mapiAuthorization: null, named: true, signal };
}

function withRetry(upstream: UpstreamClient): UpstreamClient {
  return {
    async send(request) {
      for (let attempt = 1;; attempt++) {
        try {
          return await upstream.send({ ...request, timeoutMs: READ_TIMEOUT_MS });
        } catch (error) {
          const isTransient = error instanceof UpstreamError &&
            (error.problem === "unreachable" || error.problem === "broken");
          if (!isTransient || attempt === ATTEMPTS || request.signal?.aborted) throw error;
        }
      }
    },
  };
}
