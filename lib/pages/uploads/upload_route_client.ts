import { fitsUrl } from "@/lib/pages/storage/key_names.ts";
import {
  type CorsRule,
  insteadOf,
  isReachable,
  NEVER,
  type Put,
  type UploadCalls,
  UploadFault,
} from "./upload_calls_client.ts";
import { SINGLE_PUT_BYTES } from "./upload_items_client.ts";

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
 * The route of bytes into a bucket: by presigned URLs to the store, or through the gateway, and then why.
 *
 * - `no rules`: the store has no CORS rules for buckets
 * - `blocked`: the bucket's CORS rules do not let this page send; a rule can be added
 * - `forbidden`: the same, and this login may not read the rules
 * - `unreachable`: the rules let it, yet the store does not respond to this browser
 */
type UploadRoute = "store" | "no rules" | "blocked" | "forbidden" | "unreachable";

/** The id of no upload: a store that the page reaches responds that no such upload exists. */
const NO_UPLOAD = "not-an-upload";
/** The SHA-256 of an empty body, in base64. */
const NO_BYTES_SHA256 = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
/**
 * Up to this, a file goes through the gateway, bytes: a presigned PUT takes two requests more, one for the URL and one of
 * the browser for the permission by CORS.
 */
const SMALL_BYTES = 256 * 1024;
/** Requests in a row that the store did not respond to, after which parts go through the gateway. */
const MAX_LOSSES = 3;

/** Finds the route of the bytes into a bucket, by one request that changes nothing. */
export class UploadRoutes {
  /** Null until it is known. */
  known: UploadRoute | null = null;
  readonly #onChange: () => void;
  /** Shared by the files that are sent first. */
  #finding: Promise<UploadRoute> | null = null;
  #losses = 0;

  constructor(
    private readonly calls: UploadCalls,
    private readonly put: Put,
    private readonly origin: string,
    onChange: () => void,
  ) {
    this.#onChange = onChange;
  }

  /** Whether a file of that many bytes goes straight to the store. @throws UploadFault `lost` without network */
  async isDirect(key: string, bytes: number): Promise<boolean> {
    if (bytes <= SMALL_BYTES || !fitsUrl(key)) return false;
    const route = this.known ?? await (this.#finding ??= this.#find(key).finally(() => this.#finding = null));
    return route === "store";
  }

  /** The store has responded to a PUT of this page. */
  hasResponded(): void {
    this.#losses = 0;
  }

  /** The store has not responded to a PUT of this page although our own server responds. */
  hasNotResponded(): void {
    if (++this.#losses >= MAX_LOSSES) this.#set("unreachable");
  }

  /**
   * Adds the CORS rule that lets this page send to the bucket, and tries again.
   *
   * @throws UploadFault
   */
  async allow(): Promise<void> {
    const rules = await this.calls.corsRules();
    if (rules === "none") return void this.#set("no rules");
    const allowing = withUploadRule(rules, this.origin);
    if (!allowing) throw new UploadFault("refused");
    await this.calls.setCorsRules(allowing);
    this.#losses = 0;
    this.#set(await this.#responds("-") ? "store" : "unreachable");
  }

  async #find(key: string): Promise<UploadRoute> {
    if (await this.#responds(key)) return this.#set("store");
    if (!await isReachable(NEVER)) throw new UploadFault("lost");
    const rules = await this.calls.corsRules().catch(insteadOf("forbidden", "forbidden" as const));
    return this.#set(rules === "none" ? "no rules" : rules === "forbidden" ? rules : "blocked");
  }

  /** Sends nothing to an upload that does not exist. Without permission by CORS there is no response to read. */
  async #responds(key: string): Promise<boolean> {
    const plan = { fileBytes: SINGLE_PUT_BYTES + 1, partBytes: SINGLE_PUT_BYTES + 1 };
    const target = await this.calls.presignPart(key, NO_UPLOAD, plan, 1, NO_BYTES_SHA256, NEVER);
    const { status } = await this.put({ ...target, body: new Blob(), signal: NEVER, onProgress: () => {} });
    return status !== 0;
  }

  #set(route: UploadRoute): UploadRoute {
    this.known = route;
    this.#onChange();
    return route;
  }
}
