import type { LRUCache } from "lru-cache";
import { HttpError } from "@/lib/http/errors.ts";
import type { RequestContext } from "@/lib/http/request_context.ts";
import { deadline } from "@/lib/std/timing.ts";
import { timedCache } from "@/lib/std/caches.ts";
import type { StorageLogin } from "./storage_cookie.ts";
import type { StorageGateway } from "./storage_gateway.ts";

/** How long it is cached whether a login may read the trail, ms: an account that gets the role need not log in again. */
const CACHED_MS = 60_000;
const MAX_CACHED = 10_000;
/** How long a page waits for it, ms. */
const WAIT_MS = 400;

/** Which logins may read the audit trail, so that others are led to no page that is closed to them. */
export class AuditReaders {
  readonly #gateway: StorageGateway;
  /** By login. */
  readonly #known: LRUCache<string, boolean>;
  /** Look-ups that run, by login. */
  readonly #pending = new Map<string, Promise<void>>();

  /** @param now ms since 1970 */
  constructor(gateway: StorageGateway, now: () => number) {
    this.#gateway = gateway;
    this.#known = timedCache("audit_readers", MAX_CACHED, CACHED_MS, now);
  }

  /** Whether a login may read the trail; false where that is not known within {@link WAIT_MS}. */
  async has(login: StorageLogin, context: RequestContext): Promise<boolean> {
    const { digest } = login;
    const known = this.#known.get(digest);
    if (known !== undefined) return known;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const inTime = deadline(WAIT_MS, resolve);
    await Promise.race([late, this.#lookUp(login, context)]);
    inTime();
    return this.#known.get(digest) ?? false;
  }

  #lookUp(login: StorageLogin, context: RequestContext): Promise<void> {
    const { digest } = login;
    const running = this.#pending.get(digest);
    if (running) return running;
    const started = this.#find(login, context).finally(() => this.#pending.delete(digest));
    this.#pending.set(digest, started);
    return started;
  }

  async #find(login: StorageLogin, context: RequestContext): Promise<void> {
    try {
      const { status } = await this.#gateway.read("/audit?count=1", login, context);
      // Anything else passes: it is looked up again with the next page.
      if ([200, 403, 404, 501].includes(status)) this.#known.set(login.digest, status === 200);
    } catch (error) {
      // A page is shown without the link as well.
      if (!(error instanceof HttpError)) throw error;
    }
  }
}
