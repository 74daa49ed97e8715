import type { LRUCache } from "lru-cache";
import { HttpError } from "@/lib/http/errors.ts";
import type { RequestContext } from "@/lib/http/request_context.ts";
import { deadline } from "@/lib/std/timing.ts";
import { forEachConcurrent } from "@/lib/std/concurrency.ts";
import { timedCache } from "@/lib/std/caches.ts";
import { integerAt } from "@/lib/std/untrusted.ts";
import type { StorageLogin } from "./storage_cookie.ts";
import type { StorageGateway } from "./storage_gateway.ts";

/** How long figures are cached: stores count them now and then only, ms. */
const CACHED_MS = 300_000;
const MAX_CACHED = 10_000;
/** How long a page waits for figures, ms. */
const WAIT_MS = 400;
/** Buckets whose figures are read for a page, and requests for them at a time. */
const MAX_BUCKETS = 100;
const CONCURRENCY = 6;

/** What a bucket holds. */
interface Usage {
  /** Objects, old versions counted. */
  readonly objects: number;
  readonly bytes: number;
}

/** What the buckets of an account hold, as the management API counts it, for those who may read statistics. */
export class BucketUsage {
  readonly #gateway: StorageGateway;
  /** By login and bucket. */
  readonly #known: LRUCache<string, Usage>;
  /** Logins that may not read statistics. */
  readonly #denied: LRUCache<string, true>;

  /** @param now ms since 1970 */
  constructor(gateway: StorageGateway, now: () => number) {
    this.#gateway = gateway;
    this.#known = timedCache("bucket_usage", MAX_CACHED, CACHED_MS, now);
    this.#denied = timedCache("bucket_usage_denied", MAX_CACHED, CACHED_MS, now);
  }

  /**
   * The usage of buckets by their names, as far as it is known within {@link WAIT_MS}: a page is not to wait for figures,
   * and the next one has those that came later.
   */
  async read(
    login: StorageLogin,
    buckets: readonly string[],
    context: RequestContext,
  ): Promise<ReadonlyMap<string, Usage>> {
    const keyOf = (bucket: string) => `${login.digest} ${bucket}`;
    const unknown = buckets.filter((bucket) => !this.#known.has(keyOf(bucket))).slice(0, MAX_BUCKETS);
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const inTime = deadline(WAIT_MS, resolve);
    await Promise.race([late, this.#readAll(login, unknown, keyOf, context)]);
    inTime();
    return new Map(buckets.flatMap((bucket): [string, Usage][] => {
      const usage = this.#known.get(keyOf(bucket));
      return usage ? [[bucket, usage]] : [];
    }));
  }

  async #readAll(
    login: StorageLogin,
    buckets: readonly string[],
    keyOf: (bucket: string) => string,
    context: RequestContext,
  ): Promise<void> {
    const { tenant, digest } = login;
    if (tenant === null || buckets.length === 0 || this.#denied.has(digest)) return;
    try {
      if (!(await this.#gateway.storeKind(context)).hasMapi) return;
      await forEachConcurrent(buckets, CONCURRENCY, async (bucket) => {
        if (this.#denied.has(digest)) return;
        const path = `/mapi/tenants/${tenant}/namespaces/${encodeURIComponent(bucket)}/statistics`;
        const { status, json } = await this.#gateway.read(path, login, context);
        if (status === 403) this.#denied.set(digest, true);
        if (status !== 200) return;
        this.#known.set(keyOf(bucket), {
          objects: integerAt(json, "objectCount"),
          bytes: integerAt(json, "ingestedVolume"),
        });
      });
    } catch (error) {
      // The buckets are shown without figures.
      if (!(error instanceof HttpError)) throw error;
    }
  }
}
