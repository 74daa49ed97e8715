import type { Caller, S3Keys } from "@/lib/auth/store_credentials.ts";
import { type Upstream, UpstreamError } from "@/lib/http/upstream.ts";
import type { S3 } from "@/lib/s3/client.ts";

/** The one bucket that the results role reads. */
export interface ResultsStore {
  readonly s3: S3;
  /** Whose S3 endpoint it is; null where the store has but one. */
  readonly tenant: string | null;
  readonly bucket: string;
  /** Keys by which readiness looks for the bucket; without them it asks unsigned, which some stores tell nothing. */
  readonly probeKeys?: S3Keys | null;
}

/** Until the store's response headers, ms. */
const READ_TIMEOUT_MS = 30_000;
const ATTEMPTS = 2;

/** The store as the results role asks it: reads alone, so a request whose connection failed is sent once more. */
export function patientStore(store: ResultsStore): ResultsStore {
  return { ...store, s3: { ...store.s3, upstream: askedTwice(store.s3.upstream) } };
}

/** A session's user towards the store. */
export function storeCaller({ tenant }: ResultsStore, user: string, keys: S3Keys, signal?: AbortSignal): Caller {
  return { username: user, tenant, s3: keys, mapiAuthorization: null, named: true, signal };
}

function askedTwice(upstream: Upstream): Upstream {
  return async function ask(request) {
    for (let attempt = 1;; attempt++) {
      try {
        return await upstream({ ...request, timeoutMs: READ_TIMEOUT_MS });
      } catch (error) {
        const mayPass = error instanceof UpstreamError &&
          (error.problem === "unreachable" || error.problem === "broken");
        if (!mayPass || attempt === ATTEMPTS || request.signal?.aborted) throw error;
      }
    }
  };
}
