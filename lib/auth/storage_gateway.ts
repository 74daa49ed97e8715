import { decodeJwt } from "jose";
import { z } from "zod";
import { clientClosedRequest, HttpError } from "@/lib/http/errors.ts";
import { readCapped, UpstreamError } from "@/lib/http/upstream.ts";
import { type RawTarget, REQUEST_ID_HEADER, type RequestContext } from "@/lib/http/request_context.ts";
import { CountedCache } from "@/lib/std/caches.ts";
import { parsedJson, stringAt } from "@/lib/std/untrusted.ts";
import { boundedReader, streamReader } from "@/lib/std/body_reader.ts";
import type { GatewayRequest, GatewayService } from "./gateway_service.ts";
import type { RevocableSession } from "./revoked_sessions.ts";
import type { StorageAccount, StorageCredentials } from "./storage_cookie.ts";

/** Largest JSON that is read for a page, bytes: a listing of 1000 keys of 1024 bytes, each escaped, is below. */
const MAX_JSON_BYTES = 16 * 1024 * 1024;
const MAX_TOKEN_BYTES = 64 * 1024;
/** Bearer tokens that are cached, by login. */
const MAX_TOKENS = 1000;
/** A token that ends within this time is not used, ms. */
const TOKEN_MARGIN_MS = 20_000;
/** How long a token is used whose end cannot be read (encrypted), ms; one that ends earlier is replaced after a 401. */
const UNKNOWN_END_MS = 60_000;
const CAPABILITIES_MS = 60_000;

const TOKEN = z.object({ access_token: z.string() });
const CAPABILITIES = z.object({ mapi_enabled: z.boolean(), storage_backend: z.string() });

/** The kind of store that the gateway is in front of. */
interface StoreKind {
  /** Whether logins may belong to tenants, or to the system level that manages them. */
  readonly hasTenants: boolean;
  /** Whether the management API can be reached. */
  readonly hasMapi: boolean;
}

/** An account, of a session or while it logs in. Only a session has a digest, under which its token is cached. */
interface Acting extends StorageCredentials, Partial<RevocableSession> {}

/** The gateway's JSON for a page; `headers` are those of the response. */
interface GatewayJson<Json> {
  readonly status: number;
  /** The body; with status 200 it has the form in the API document. */
  readonly json: Json;
  readonly headers: Headers;
}

/**
 * The gateway role as storage pages use it: the bearer token that the gateway wants is obtained for the login of a
 * browser's cookie and never leaves the server.
 */
export class StorageGateway {
  readonly #tokens = new CountedCache<string, { readonly token: string; readonly endsAt: number }>("storage_tokens", {
    max: MAX_TOKENS,
  });
  readonly #endpoints = new CountedCache<string, { readonly endpoint: string | null }>("storage_endpoints", {
    max: MAX_TOKENS,
  });
  #kind: { readonly kind: StoreKind; readonly readAt: number } | null = null;

  /**
   * @param now ms since 1970
   * @param end is called for a session whose account the store no longer accepts; nothing is when absent
   */
  constructor(
    private readonly service: GatewayService,
    private readonly now: () => number,
    private readonly end: (session: RevocableSession) => void = () => {},
  ) {
  }

  /**
   * Sends a request as an account. Where the gateway no longer accepts a cached token, it is sent again with a
   * new one, because the login may still be right. A body that is a stream cannot be sent again: it ends with the 401.
   * A session that the store refuses ends for good, also where its account is enabled again later.
   *
   * @throws HttpError 502 or 504 when the gateway does not respond, 499 when the client has left
   */
  async send(request: GatewayRequest, acting: Acting, context: RequestContext): Promise<Response> {
    const cached = this.#cachedToken(acting);
    const response = await this.#sendWith(cached ?? await this.#newToken(acting, context), request, context);
    if (response.status !== 401) return response;
    // Without a challenge the token is sound and the store refuses what is in it, which a new one would not change.
    if (!response.headers.has("WWW-Authenticate")) return this.#refused(response, acting);
    if (cached === null) return response;
    if (this.#cachedToken(acting) === cached) this.#tokens.delete(acting.digest ?? "");
    if (request.body instanceof ReadableStream) return response;
    await response.body?.cancel();
    const again = await this.#sendWith(await this.#newToken(acting, context), request, context);
    return again.status === 401 && !again.headers.has("WWW-Authenticate") ? this.#refused(again, acting) : again;
  }

  #refused(response: Response, { digest, account, expiresAt, issuedAt = null }: Acting): Response {
    if (digest !== undefined && account !== undefined && expiresAt !== undefined) {
      this.end({ digest, account, expiresAt, issuedAt });
    }
    return response;
  }

  async #sendWith(token: string, request: GatewayRequest, context: RequestContext): Promise<Response> {
    const headers = new Headers(request.headers);
    headers.set("Authorization", `Bearer ${token}`);
    return await this.#exchange({ ...request, headers }, context);
  }

  /** Reads JSON as an account, as {@link sendJson}. */
  async read<Json = unknown>(path: string, acting: Acting, context: RequestContext): Promise<GatewayJson<Json>> {
    return await this.sendJson<Json>("GET", path, undefined, acting, context);
  }

  /**
   * Sends JSON as an account and reads the JSON of the response.
   *
   * @param path below `/api/v1`, with its query
   * @param json undefined: without a body
   * @throws HttpError as {@link send}, and 502 for what is not JSON
   */
  async sendJson<Json = unknown>(
    method: "GET" | "POST" | "DELETE",
    path: string,
    json: unknown,
    acting: Acting,
    context: RequestContext,
  ): Promise<GatewayJson<Json>> {
    const [pathname, query = ""] = path.split("?", 2);
    const headers = new Headers({ Accept: "application/json", "Accept-Encoding": "identity" });
    const body = json === undefined ? null : new TextEncoder().encode(JSON.stringify(json));
    if (body) {
      headers.set("Content-Type", "application/json");
      headers.set("Content-Length", String(body.length));
    }
    const target = { path: `/api/v1${pathname}`, query };
    const response = await this.send({ method, target, headers, body, readHere: true }, acting, context);
    return await jsonOf<Json>(response, MAX_JSON_BYTES, context);
  }

  /** The headers of an object, or the status of an error. @throws HttpError as {@link send} */
  async head(target: RawTarget, acting: Acting, context: RequestContext): Promise<Response> {
    const request = { method: "HEAD", target, headers: new Headers(), readHere: true } as const;
    const response = await this.send(request, acting, context);
    await response.body?.cancel();
    return response;
  }

  /** The S3 endpoint of an account as browsers reach it; null where there is none, or the gateway does not say. */
  async publicEndpoint(acting: Acting & { readonly digest: string }, context: RequestContext): Promise<string | null> {
    const known = this.#endpoints.get(acting.digest);
    if (known) return known.endpoint;
    try {
      const { status, json } = await this.read("/credentials", acting, context);
      if (status !== 200) return null;
      const endpoint = stringAt(json, "endpoint_url");
      this.#endpoints.set(acting.digest, { endpoint });
      return endpoint;
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      return null;
    }
  }

  /** The kind of store that the gateway is in front of. @throws HttpError as {@link send} */
  async storeKind(context: RequestContext): Promise<StoreKind> {
    const now = this.now();
    if (this.#kind && now - this.#kind.readAt < CAPABILITIES_MS) return this.#kind.kind;
    const target = { path: "/api/v1/capabilities", query: "" };
    const response = await this.#exchange({ method: "GET", target, headers: new Headers(), readHere: true }, context);
    const { data } = CAPABILITIES.safeParse((await jsonOf(response, MAX_TOKEN_BYTES, context)).json);
    if (!data) throw noGateway();
    const kind = { hasTenants: data.storage_backend === "hcp", hasMapi: data.mapi_enabled };
    this.#kind = { kind, readAt: now };
    return kind;
  }

  #cachedToken({ digest }: Acting): string | null {
    if (digest === undefined) return null;
    return this.#tokens.getFitting(digest, ({ endsAt }) => endsAt > this.now())?.token ?? null;
  }

  async #newToken({ tenant, user, password, digest }: Acting, context: RequestContext): Promise<string> {
    const form = new URLSearchParams({ username: user, password, ...(tenant === null ? {} : { tenant }) });
    const response = await this.#exchange({
      method: "POST",
      target: { path: "/api/v1/auth/token", query: "" },
      headers: new Headers({ "Content-Type": "application/x-www-form-urlencoded" }),
      body: new TextEncoder().encode(form.toString()),
      readHere: true,
    }, context);
    const { status, json, headers } = await jsonOf(response, MAX_TOKEN_BYTES, context);
    const { data } = TOKEN.safeParse(json);
    if (status !== 200 || !data) throw refusedToken(status, headers);
    const token = data.access_token;
    if (digest !== undefined) {
      const end = endOf(token);
      const endsAt = end === null ? this.now() + UNKNOWN_END_MS : end - TOKEN_MARGIN_MS;
      this.#tokens.set(digest, { token, endsAt });
    }
    return token;
  }

  async #exchange(request: GatewayRequest, context: RequestContext): Promise<Response> {
    request.headers.set(REQUEST_ID_HEADER, context.requestId);
    const known: GatewayRequest["known"] = (handled) => {
      if (handled.refusal !== undefined) context.refusal = handled.refusal;
      request.known?.(handled);
    };
    try {
      return await this.service({ ...request, known }, context);
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      if (error.problem === "aborted") throw clientClosedRequest();
      throw noGateway(error);
    }
  }
}

/** When a token ends, ms since 1970; null where its claims cannot be read. Its signature is the gateway's business. */
function endOf(token: string): number | null {
  try {
    const { exp } = decodeJwt(token);
    return exp === undefined ? null : exp * 1000;
  } catch {
    return null;
  }
}

/** @throws HttpError 502 for a body that breaks off or is not JSON, 499 when the client has left */
async function jsonOf<Json = unknown>(
  response: Response,
  maxBytes: number,
  context: RequestContext,
): Promise<GatewayJson<Json>> {
  const { status, headers } = response;
  // Read now: once a client has left, its request can no longer be read.
  const { signal } = context.request;
  let text: string;
  try {
    text = await readCapped(response, maxBytes);
  } catch (error) {
    throw signal.aborted ? clientClosedRequest(error) : noGateway(error);
  }
  const json = parsedJson(text);
  if (status === 200 && json === undefined) throw noGateway();
  return { status, headers, json: json as Json };
}

/** A name that cannot be an account is 422 at the gateway; anything else is not about the login. */
function refusedToken(status: number, headers: Headers): HttpError {
  if (status === 422) return new HttpError(422, "user name and password cannot be sent to the store");
  if (status !== 503) return noGateway();
  return new HttpError(503, "too many logins at once", {
    headers: { "Retry-After": headers.get("Retry-After") ?? "1" },
  });
}

function noGateway(cause?: unknown): HttpError {
  return new HttpError(502, "the storage gateway did not answer", { cause });
}

/** Longest time that a page waits for a part of an object, ms. */
const PART_MS = 10_000;

/** Bytes of an object. */
interface BytePart {
  readonly from: number;
  readonly length: number;
}

/**
 * Reads a part of an object, at most as many bytes as requested. If the store ignores the range, the first part is cut from
 * the whole object and the rest is cancelled.
 *
 * @returns null where there is no such part, or where it does not come in time
 * @throws HttpError when the gateway does not respond
 */
export async function readObjectPart(
  gateway: StorageGateway,
  target: RawTarget,
  acting: StorageCredentials & { readonly digest: string },
  { from, length }: BytePart,
  context: RequestContext,
): Promise<Uint8Array | null> {
  const headers = new Headers({ Range: `bytes=${from}-${from + length - 1}`, "Accept-Encoding": "identity" });
  // The slot that the request takes of the store is released with these bytes, not with the page that shows them.
  const { promise: readHere, resolve: release } = Promise.withResolvers<void>();
  try {
    const { status, body } = await gateway.send({ method: "GET", target, headers, readHere }, acting, context);
    if (body !== null && (status === 206 || (status === 200 && from === 0))) return await beginningOf(body, length);
    await body?.cancel();
    return null;
  } finally {
    release();
  }
}

/** The first bytes of a body, at most `length`; null where they do not come in time. The rest is canceled. */
async function beginningOf(body: ReadableStream<Uint8Array<ArrayBuffer>>, length: number): Promise<Uint8Array | null> {
  const reader = boundedReader(streamReader(body), { totalMs: PART_MS });
  const bytes = new Uint8Array(length);
  let filled = 0;
  try {
    for (let chunk; filled < length && (chunk = await reader.read());) {
      const part = chunk.subarray(0, length - filled);
      bytes.set(part, filled);
      filled += part.length;
    }
  } catch {
    return null;
  } finally {
    reader.cancel();
  }
  return bytes.subarray(0, filled);
}

/** How the store received a login. */
export type LoginVerdict =
  | { readonly isAccepted: true; readonly account: StorageAccount }
  /** The status with which the gateway refused it, and how long to wait before the next attempt, seconds. */
  | { readonly isAccepted: false; readonly status: number; readonly retryAfter: number | null };

/** No store is expected to have a bucket of this name. In its log the name says what the request was for. */
const ABSENT_BUCKET = "stackroom-checks-a-login";

/**
 * Checks a login by one call to the store: the list of buckets, or of tenants at the system level, where there are no
 * buckets. A store with tenants may say 403 for a wrong password, an unknown tenant and an account that may not list
 * buckets alike: there a second call proves the login. Only to a signature that it accepts a store says that there is no
 * such bucket. The management API would prove less, since it is closed to most accounts of an HCP. In another store 403 is
 * about rights, since the gateway says 401 for refused keys. An account that may not list buckets opens one by its name. In
 * a store that knows no tenants at all, a tenant in front of the name is ignored, so that one account has one name.
 *
 * @throws HttpError when the gateway does not respond
 */
export async function checkStorageLogin(
  gateway: StorageGateway,
  { tenant: typedTenant, user, password }: StorageCredentials,
  context: RequestContext,
): Promise<LoginVerdict> {
  const { hasTenants, hasMapi } = await gateway.storeKind(context);
  const account = { tenant: hasTenants || hasMapi ? typedTenant : null, user };
  const isSystem = hasTenants && account.tenant === null;
  const path = isSystem ? "/mapi/tenants?count=1" : "/buckets";
  const acting = { ...account, password };
  const listed = await gateway.read(path, acting, context);
  const { status } = listed;
  if (status === 200 || (status === 403 && !hasTenants)) return { isAccepted: true, account };
  if (status !== 403 || account.tenant === null) return refusal(listed);
  const absent = await gateway.read(`/buckets/${ABSENT_BUCKET}/objects?max_keys=1`, acting, context);
  // 200 where there is one after all.
  if (absent.status === 404 || absent.status === 200) return { isAccepted: true, account };
  // A store that could not check the password has not called it wrong.
  return refusal(absent.status === 429 || absent.status >= 500 ? absent : listed);
}

/** The verdict of a response that proves no login. */
function refusal({ status, headers }: { readonly status: number; readonly headers: Headers }): LoginVerdict {
  const retryAfter = Number(headers.get("Retry-After") ?? NaN);
  return {
    isAccepted: false,
    status: status === 403 ? 401 : status,
    retryAfter: Number.isFinite(retryAfter) ? retryAfter : null,
  };
}
