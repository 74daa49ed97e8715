import { fitsUrl } from "@/lib/pages/storage/key_names.ts";
import { type CorsRule, type ObjectName, type Put, type UploadCalls, UploadFault } from "./upload_calls_client.ts";
import { planParts, SINGLE_PUT_BYTES } from "./upload_items_client.ts";

/** Most rules of a bucket (S3 API, PutBucketCors). */
const MAX_RULES = 100;
/** How long a browser may cache the response to a preflight, seconds. */
const MAX_AGE_SECONDS = 3600;
const ID_PREFIX = "uploads of the storage pages";

/** The rule that lets pages of an origin send parts and read their entity tags. */
function uploadRule(origin: string): CorsRule {
  return {
    ID: `${ID_PREFIX} at ${origin}`.slice(0, 255),
    AllowedHeaders: ["*"],
    AllowedMethods: ["PUT"],
    AllowedOrigins: [origin],
    ExposeHeaders: ["ETag"],
    MaxAgeSeconds: MAX_AGE_SECONDS,
  };
}

/**
 * The rules of a bucket with the one that uploads need, which replaces an earlier one for the same origin. S3 applies
 * the first rule that matches, and another one for the origin may expose no entity tag, so ours is the first.
 *
 * @returns null where the bucket has as many rules as it may
 */
export function withUploadRule(rules: readonly CorsRule[], origin: string): CorsRule[] | null {
  const rule = uploadRule(origin);
  const others = rules.filter(({ ID }) => ID !== rule.ID);
  return others.length < MAX_RULES ? [rule, ...others] : null;
}

/**
 * The way of bytes into a bucket: by presigned URLs at the store, or through the gateway, and then why.
 *
 * - `no rules`: the store has no CORS rules for buckets
 * - `blocked`: the bucket's CORS rules do not let this page send; a rule can be added
 * - `forbidden`: the same, and this login may not read the rules
 * - `unreachable`: the rules let it, yet the store does not respond to this browser
 */
export type UploadRoute = "store" | "no rules" | "blocked" | "forbidden" | "unreachable";

/** The id of no upload: a store that the page reaches responds that it is not there. */
const NO_UPLOAD = "not-an-upload";
/** The SHA-256 of nothing, in base64. */
const NO_BYTES_SHA256 = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
/**
 * Up to this, a file goes through the gateway, bytes: a presigned PUT takes two requests more, one for the URL and one of
 * the browser for the permission by CORS.
 */
const SMALL_BYTES = 256 * 1024;
/** Requests in a row that the store did not respond to, after which parts go through the gateway. */
const MAX_LOSSES = 3;

/** Shared requests are not ended with the file that began them; each has its own bounds. */
const NEVER = new AbortController().signal;

/** Finds the way of bytes into each bucket, by one request that changes nothing. */
export class UploadRoutes {
  readonly #calls: UploadCalls;
  readonly #put: Put;
  readonly #origin: string;
  readonly #onChange: () => void;
  readonly #known = new Map<string, UploadRoute>();
  readonly #pending = new Map<string, Promise<UploadRoute>>();
  readonly #losses = new Map<string, number>();

  constructor(calls: UploadCalls, put: Put, origin: string, onChange: () => void) {
    this.#calls = calls;
    this.#put = put;
    this.#origin = origin;
    this.#onChange = onChange;
  }

  /** The ways that are known, by bucket. */
  get known(): ReadonlyMap<string, UploadRoute> {
    return this.#known;
  }

  /** The way into a bucket; files that begin together share one request. @throws UploadFault `lost` while the network is away */
  of(name: ObjectName): Promise<UploadRoute> {
    const route = this.#known.get(name.bucket);
    if (route) return Promise.resolve(route);
    const pending = this.#pending.get(name.bucket) ?? this.#find(name).finally(() => {
      this.#pending.delete(name.bucket);
    });
    this.#pending.set(name.bucket, pending);
    return pending;
  }

  /** Whether a file of that many bytes goes straight to the store. @throws UploadFault as {@linkcode of} */
  async isDirect(name: ObjectName, bytes: number): Promise<boolean> {
    return bytes > SMALL_BYTES && fitsUrl(name.key) && await this.of(name) === "store";
  }

  /** The store has responded to a PUT of this page. */
  hasResponded(bucket: string): void {
    this.#losses.delete(bucket);
  }

  /** The store has not responded to a PUT of this page although our own server responds. */
  hasNotResponded(bucket: string): void {
    const losses = (this.#losses.get(bucket) ?? 0) + 1;
    this.#losses.set(bucket, losses);
    if (losses >= MAX_LOSSES) this.#set(bucket, "unreachable");
  }

  /**
   * Adds the CORS rule that lets this page send to the bucket, and tries again.
   *
   * @throws UploadFault
   */
  async allow(bucket: string): Promise<void> {
    const rules = await this.#calls.corsRules(bucket, NEVER);
    if (rules === "none") {
      this.#set(bucket, "no rules");
      return;
    }
    const allowing = withUploadRule(rules, this.#origin);
    if (!allowing) throw new UploadFault("refused", null);
    await this.#calls.setCorsRules(bucket, allowing, NEVER);
    this.#losses.delete(bucket);
    this.#set(bucket, await this.#responds({ bucket, key: "-" }) ? "store" : "unreachable");
  }

  async #find(name: ObjectName): Promise<UploadRoute> {
    if (await this.#responds(name)) return this.#set(name.bucket, "store");
    if (!await this.#calls.isReachable(NEVER)) throw new UploadFault("lost");
    try {
      const rules = await this.#calls.corsRules(name.bucket, NEVER);
      return this.#set(name.bucket, rules === "none" ? "no rules" : "blocked");
    } catch (error) {
      if (!(error instanceof UploadFault) || error.kind !== "forbidden") throw error;
      return this.#set(name.bucket, "forbidden");
    }
  }

  /** Sends nothing to an upload that does not exist. Without permission by CORS there is no response to read. */
  async #responds(name: ObjectName): Promise<boolean> {
    const plan = planParts(SINGLE_PUT_BYTES + 1);
    if (!plan) return false;
    const target = await this.#calls.presignPart(name, NO_UPLOAD, plan, 1, NO_BYTES_SHA256, NEVER);
    const response = await this.#put({
      url: target.url,
      headers: target.headers ?? {},
      body: new Blob(),
      signal: NEVER,
      onProgress: () => {},
    });
    return response.status !== 0;
  }

  #set(bucket: string, route: UploadRoute): UploadRoute {
    this.#known.set(bucket, route);
    this.#onChange();
    return route;
  }
}
