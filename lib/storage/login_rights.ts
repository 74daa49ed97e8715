import type { LRUCache } from "lru-cache";
import type { RequestContext } from "@/lib/http/request_context.ts";
import { deadline } from "@/lib/std/timing.ts";
import { timedCache } from "@/lib/std/caches.ts";
import { entries, member, stringAt } from "@/lib/std/untrusted.ts";
import { dataAccessPath } from "./storage_account.ts";
import type { StorageLogin } from "./storage_cookie.ts";
import type { StorageGateway } from "./storage_gateway.ts";

/** How long rights are cached, ms: an account that has been granted more need not log in again. */
const CACHED_MS = 60_000;
const MAX_CACHED = 10_000;
/** How long all is offered without a new look-up after one that failed or was late, ms. */
const RETRY_MS = 10_000;
/** How long a page waits for rights, ms. */
const WAIT_MS = 1000;
/** An upload that no store has: names an object that is not written either. */
const NO_UPLOAD = new TextEncoder().encode(
  JSON.stringify({ upload_id: "0", parts: [{ PartNumber: 1, ETag: '"0"' }] }),
);
/** Shows in the logs of the store and of the gateway what a refused completion was for. */
const NO_KEY = "stackroom-rights-probe";

/** What a login may change in a bucket: `write` new and replaced objects and their tags. */
export interface BucketRights {
  readonly write: boolean;
  readonly delete: boolean;
}

const ALL_RIGHTS: BucketRights = { write: true, delete: true };

/** An account's own data access permissions, by the names of namespaces in lower case. */
type DataAccess = ReadonlyMap<string, ReadonlySet<unknown>>;

/**
 * What logins may change in buckets. Only the management API says it, where an account may read its own data access
 * permissions. Elsewhere all is offered, and the page remembers what the store forbids.
 */
export class LoginRights {
  readonly #gateway: StorageGateway;
  /** By login. */
  readonly #access: LRUCache<string, DataAccess>;
  /** By login and bucket. */
  readonly #known: LRUCache<string, BucketRights>;
  /** Logins that may not read their permissions. */
  readonly #unreadable: LRUCache<string, true>;
  /** Logins and buckets whose rights were not found in time. */
  readonly #unknown: LRUCache<string, true>;
  /** Look-ups that run, by login and bucket. */
  readonly #pending = new Map<string, Promise<void>>();

  /** @param now ms since 1970 */
  constructor(gateway: StorageGateway, now: () => number) {
    this.#gateway = gateway;
    this.#access = timedCache("login_access", MAX_CACHED, CACHED_MS, now);
    this.#known = timedCache("login_rights", MAX_CACHED, CACHED_MS, now);
    this.#unreadable = timedCache("login_unreadable", MAX_CACHED, CACHED_MS, now);
    this.#unknown = timedCache("login_unknown", MAX_CACHED, RETRY_MS, now);
  }

  /**
   * What a login may change in a bucket; all of it where that is not known within {@link WAIT_MS}. For logins that the
   * store has accepted: the management API returns 403 for wrong passwords too, which would count as guesses.
   */
  async read(login: StorageLogin, bucket: string, context: RequestContext): Promise<BucketRights> {
    const key = `${login.digest} ${bucket}`;
    const known = this.#known.get(key);
    if (known) return known;
    if (this.#unknown.has(key)) return ALL_RIGHTS;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const inTime = deadline(WAIT_MS, resolve);
    await Promise.race([late, this.#lookUp(login, bucket, key, context)]);
    inTime();
    const found = this.#known.get(key);
    if (!found) this.#unknown.set(key, true);
    return found ?? ALL_RIGHTS;
  }

  #lookUp(login: StorageLogin, bucket: string, key: string, context: RequestContext): Promise<void> {
    const running = this.#pending.get(key);
    if (running) return running;
    const started = this.#find(login, bucket, key, context).finally(() => this.#pending.delete(key));
    this.#pending.set(key, started);
    return started;
  }

  async #find(login: StorageLogin, bucket: string, key: string, context: RequestContext): Promise<void> {
    try {
      const access = await this.#accessOf(login, context);
      if (access === null) return;
      const own = access.get(bucket.toLowerCase());
      const write = own?.has("WRITE") || await this.#mayWrite(login, bucket, context);
      // An access list may grant deletion beyond the account's own permissions, and writing comes with it there.
      this.#known.set(key, { write, delete: own?.has("DELETE") || write });
    } catch {
      // A page is shown without rights as well: all is offered, and the store decides.
    }
  }

  async #accessOf(login: StorageLogin, context: RequestContext): Promise<DataAccess | null> {
    const { tenant, user, digest } = login;
    if (tenant === null || this.#unreadable.has(digest)) return null;
    const cached = this.#access.get(digest);
    if (cached) return cached;
    const { hasTenants, hasMapi } = await this.#gateway.storeKind(context);
    // Other stores may be used with shared keys, whose rights are not those of the account.
    if (!hasTenants || !hasMapi) return null;
    const { status, json } = await this.#gateway.read(dataAccessPath(tenant, user), login, context);
    if (status !== 200) {
      this.#unreadable.set(digest, true);
      return null;
    }
    const access = dataAccessOf(json);
    this.#access.set(digest, access);
    return access;
  }

  /**
   * Whether the store lets a login write, by completing an upload that does not exist: it takes the right to write and
   * changes nothing. An account may have that right by the bucket's access list, which it cannot always read.
   */
  async #mayWrite(login: StorageLogin, bucket: string, context: RequestContext): Promise<boolean> {
    const response = await this.#gateway.send(
      {
        method: "POST",
        target: { path: `/api/v1/buckets/${encodeURIComponent(bucket)}/multipart/${NO_KEY}/complete`, query: "" },
        headers: new Headers({ "Content-Type": "application/json" }),
        body: NO_UPLOAD,
        readHere: true,
      },
      login,
      context,
    );
    await response.body?.cancel();
    return response.status !== 403;
  }
}

function dataAccessOf(json: unknown): DataAccess {
  return new Map(
    entries(member(json, "namespacePermission")).map((entry) => [
      (stringAt(entry, "namespaceName") ?? "").toLowerCase(),
      new Set(entries(member(entry, "permissions", "permission"))),
    ]),
  );
}
