import type { LRUCache } from "lru-cache";
import type { RequestContext } from "@/lib/http/request_context.ts";
import { timedCache } from "@/lib/std/caches.ts";
import { forEachConcurrent } from "@/lib/std/concurrency.ts";
import { deadline } from "@/lib/std/body_reader.ts";
import { entries, integerAt, member, stringAt } from "@/lib/std/untrusted.ts";
import { dataAccessPath, type StorageLogin } from "./storage_cookie.ts";
import type { StorageGateway } from "./storage_gateway.ts";

const MAX_CACHED = 10_000;
/** How long rights are cached, ms: an account that has been granted more need not log in again. */
const RIGHTS_MS = 60_000;
/** How long all is offered without a new look-up after one that failed or was late, ms. */
const RETRY_MS = 10_000;
/** How long figures are cached, ms: stores count them now and then only. */
const USAGE_MS = 300_000;
/** How long a page waits for the rights to change a bucket, and for anything else, ms. */
const WAIT_FOR_RIGHTS_MS = 1000;
const WAIT_MS = 400;
/** Buckets whose figures are read for a page, and requests for them at a time. */
const MAX_BUCKETS = 100;
const CONCURRENCY = 6;
/** An upload that no store has: names an object that is not written either. */
const NO_UPLOAD = new TextEncoder().encode(
  JSON.stringify({ upload_id: "0", parts: [{ PartNumber: 1, ETag: '"0"' }] }),
);
/** Shows in the logs of the store and of the gateway what a refused completion was for. */
const NO_KEY = "stackroom-rights-probe";

/** The rights of a login in a bucket: `write` new and replaced objects and their tags. */
export interface BucketRights {
  readonly write: boolean;
  readonly delete: boolean;
}

const ALL_RIGHTS: BucketRights = { write: true, delete: true };

/** The contents of a bucket in numbers. */
interface Usage {
  /** Objects, old versions counted. */
  readonly objects: number;
  readonly bytes: number;
}

/** An account's own data access permissions, by the names of namespaces in lower case. */
type DataAccess = ReadonlyMap<string, ReadonlySet<unknown>>;

/**
 * Facts about logins that pages show beside their content. A page waits for them a short time only, and the next one has
 * those that came later.
 */
export class LoginFacts {
  /** Whether a login may read the audit trail. */
  readonly #readers: LRUCache<string, boolean>;
  /** The keys name a login and a bucket. */
  readonly #usage: LRUCache<string, Usage>;
  /** Logins that may not read statistics. */
  readonly #denied: LRUCache<string, true>;
  /** `unreadable`: the login may not read its permissions. */
  readonly #access: LRUCache<string, DataAccess | "unreadable">;
  /** The keys name a login and a bucket. */
  readonly #rights: LRUCache<string, BucketRights>;
  /** Look-ups that run: pages that wait for the same share one. */
  readonly #pending = new Map<string, Promise<void>>();

  /** @param now ms since 1970 */
  constructor(private readonly gateway: StorageGateway, now: () => number) {
    this.#readers = timedCache("audit_readers", MAX_CACHED, RIGHTS_MS, now);
    this.#usage = timedCache("bucket_usage", MAX_CACHED, USAGE_MS, now);
    this.#denied = timedCache("bucket_usage_denied", MAX_CACHED, USAGE_MS, now);
    this.#access = timedCache("login_access", MAX_CACHED, RIGHTS_MS, now);
    this.#rights = timedCache("login_rights", MAX_CACHED, RIGHTS_MS, now);
  }

  /** Whether a login may read the audit trail, so that others are led to no page that is closed to them. */
  async mayReadTrail(login: StorageLogin, context: RequestContext): Promise<boolean> {
    const { digest } = login;
    const known = this.#readers.get(digest);
    if (known !== undefined) return known;
    await this.#lookUp(`trail ${digest}`, WAIT_MS, async () => {
      const { status } = await this.gateway.read("/audit?count=1", login, context);
      // Anything else passes: it is looked up again with the next page.
      if ([200, 403, 404, 501].includes(status)) this.#readers.set(digest, status === 200);
    });
    return this.#readers.get(digest) ?? false;
  }

  /** The usage of buckets by their names, as the management API counts it for those who may read statistics. */
  async usage(
    login: StorageLogin,
    buckets: readonly string[],
    context: RequestContext,
  ): Promise<ReadonlyMap<string, Usage>> {
    const { digest } = login;
    const unknown = buckets.filter((bucket) => !this.#usage.has(`${digest} ${bucket}`)).slice(0, MAX_BUCKETS);
    await this.#lookUp(`usage ${digest} ${unknown.join(" ")}`, WAIT_MS, () => this.#readUsage(login, unknown, context));
    return new Map(buckets.flatMap((bucket): [string, Usage][] => {
      const usage = this.#usage.get(`${digest} ${bucket}`);
      return usage ? [[bucket, usage]] : [];
    }));
  }

  /**
   * The rights of a login in a bucket. Only the management API states them, where an account may read its own data access
   * permissions. Elsewhere, and where it is not known in time, all is offered, and the page remembers what the store
   * forbids. For logins that the store has accepted: the management API returns 403 for wrong passwords too, which would
   * count as guesses.
   */
  async rights(login: StorageLogin, bucket: string, context: RequestContext): Promise<BucketRights> {
    const key = `${login.digest} ${bucket}`;
    const known = this.#rights.get(key);
    if (known) return known;
    await this.#lookUp(`rights ${key}`, WAIT_FOR_RIGHTS_MS, () => this.#findRights(login, bucket, context));
    const found = this.#rights.get(key);
    if (!found) this.#rights.set(key, ALL_RIGHTS, { ttl: RETRY_MS - 1 });
    return found ?? ALL_RIGHTS;
  }

  /** Waits for a look-up, at most `waitMs`. One that fails finds nothing: a page is shown without it as well. */
  async #lookUp(name: string, waitMs: number, find: () => Promise<void>): Promise<void> {
    const running = this.#pending.get(name) ?? find().catch(() => {}).finally(() => this.#pending.delete(name));
    this.#pending.set(name, running);
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const cancel = deadline(waitMs, resolve);
    await Promise.race([late, running]).finally(cancel);
  }

  async #readUsage(login: StorageLogin, buckets: readonly string[], context: RequestContext): Promise<void> {
    const { tenant, digest } = login;
    if (tenant === null || buckets.length === 0 || this.#denied.has(digest)) return;
    if (!(await this.gateway.storeKind(context)).hasMapi) return;
    await forEachConcurrent(buckets, CONCURRENCY, async (bucket) => {
      if (this.#denied.has(digest)) return;
      const path = `/mapi/tenants/${tenant}/namespaces/${encodeURIComponent(bucket)}/statistics`;
      const { status, json } = await this.gateway.read(path, login, context);
      if (status === 403) this.#denied.set(digest, true);
      if (status !== 200) return;
      this.#usage.set(`${digest} ${bucket}`, {
        objects: integerAt(json, "objectCount"),
        bytes: integerAt(json, "ingestedVolume"),
      });
    });
  }

  async #findRights(login: StorageLogin, bucket: string, context: RequestContext): Promise<void> {
    const access = await this.#accessOf(login, context);
    if (access === null) return;
    const own = access.get(bucket.toLowerCase());
    const write = own?.has("WRITE") || await this.#mayWrite(login, bucket, context);
    // An access list may grant deletion beyond the account's own permissions, and writing comes with it there.
    this.#rights.set(`${login.digest} ${bucket}`, { write, delete: own?.has("DELETE") || write });
  }

  async #accessOf(login: StorageLogin, context: RequestContext): Promise<DataAccess | null> {
    const { tenant, user, digest } = login;
    if (tenant === null) return null;
    const cached = this.#access.get(digest);
    if (cached) return cached === "unreadable" ? null : cached;
    const { hasTenants, hasMapi } = await this.gateway.storeKind(context);
    // Other stores may be used with shared keys, whose rights are not those of the account.
    if (!hasTenants || !hasMapi) return null;
    const { status, json } = await this.gateway.read(dataAccessPath(tenant, user), login, context);
    const access = status === 200 ? dataAccessOf(json) : null;
    this.#access.set(digest, access ?? "unreadable");
    return access;
  }

  /**
   * Whether the store lets a login write, by completing an upload that does not exist: it takes the right to write and
   * changes nothing. An account may have that right by the bucket's access list, which it cannot always read.
   */
  async #mayWrite(login: StorageLogin, bucket: string, context: RequestContext): Promise<boolean> {
    const response = await this.gateway.send(
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
