import { isIPv4, isIPv6 } from "node:net";
import type { MiddlewareHandler } from "hono";
import { cancelBody } from "@/lib/std/body_reader.ts";
import { percentDecoded } from "@/lib/std/text.ts";
import type { AuditDetails, HandlingRole } from "./audit_event.ts";
import { type HttpError, methodNotAllowed, type Refusal, unavailable } from "./errors.ts";

/** Who a request acts for, as far as the access log is concerned. */
interface LoggedCaller {
  readonly username: string;
  readonly tenant: string | null;
}

/** Whether the store has accepted the credentials of a request lately. */
export type Admitted = "proven" | "unproven";

/** The context of one request: the request, and facts that its handling adds. */
export class RequestContext {
  readonly request: Request;
  readonly method: string;
  readonly target: RawTarget;
  readonly requestId: string;
  /** The same for all requests that the roles of this process make for one request of a client. */
  readonly source: object;
  /** Absent where a test calls the app without a network. */
  readonly info: RequestInfo | undefined;
  /** The address of the client; null where it is unknown. */
  clientAddress: string | null;
  /** The stable operation name, once the route is known. */
  operation: string | undefined;
  /** The template of the operation's path, once it is known. */
  route: string | undefined;
  /** The action under which the change of the operation is recorded. */
  audit: string | undefined;
  /** Details of the change that the handler has found out, for the record. */
  noted: AuditDetails | undefined;
  caller: LoggedCaller | undefined;
  /** The role that handles it; undefined where none does. */
  role: HandlingRole | undefined;
  /** How it was admitted, where credentials are needed. */
  admitted: Admitted | undefined;
  /** Whether the store has accepted the credentials of a request that was admitted without that. */
  isAccepted = false;
  /** Checks the credentials of such a request at the store. @throws HttpError if they are rejected */
  prove: (() => Promise<void>) | undefined;
  /** Why it was turned away. */
  refusal: Refusal | undefined;
  readonly #held: (() => void)[] = [];
  #isOver = false;

  constructor(request: Request, info?: RequestInfo, trustedHops = 0) {
    this.request = request;
    this.info = info;
    this.method = request.method;
    this.target = info?.target ?? rawTarget(request.url);
    this.source = info?.source ?? this;
    this.requestId = requestId(request.headers.get(REQUEST_ID_HEADER));
    this.clientAddress = null;
    this.trustHops(trustedHops);
  }

  /** Says how many proxies in front of this role are ours, which determines the addresses of client and site. */
  trustHops(trustedHops: number): void {
    trustProxies(this.request, trustedHops);
    const forwardedFor = trustedHops > 0 ? this.header("X-Forwarded-For") : null;
    this.clientAddress = clientAddress(forwardedFor, peerAddress(this.info), trustedHops);
  }

  /** Holds a resource while the request runs: `leave` is called once, at its end. */
  hold(leave: () => void): void {
    if (this.#isOver) leave();
    else this.#held.push(leave);
  }

  /** Releases all that it holds: the request is over. */
  release(): void {
    this.#isOver = true;
    for (const leave of this.#held.splice(0)) leave();
  }

  /** Allows only reads. @throws HttpError 405 for other methods than GET and HEAD */
  mustRead(): void {
    if (this.method !== "GET" && this.method !== "HEAD") throw methodNotAllowed(["GET", "HEAD"]);
  }

  /** A header of the request; null where it has none of this name. */
  header(name: string): string | null {
    return this.request.headers.get(name);
  }
}

export const REQUEST_ID_HEADER = "X-Request-ID";

const ACCEPTED = /^[A-Za-z0-9._-]{1,128}$/;

/** The id a request is known by: the one it brought when that is harmless, else 32 lowercase hexadecimal digits. */
export function requestId(incoming: string | null | undefined): string {
  return incoming && ACCEPTED.test(incoming) ? incoming : crypto.randomUUID().replaceAll("-", "");
}

/** The connection of a request, as `Deno.serve` describes it; absent where a test calls the app without a network. */
export interface RequestInfo {
  readonly remoteAddr?: Deno.Addr;
  /** Settles when the response is sent to its last byte, or its client is gone; absent for a HEAD. */
  readonly completed?: Promise<void>;
  /** Ends the connection of a client that does not read; absent if the server cannot do that. */
  breakOff?(): void;
  /** The raw target: a `Request` that one role of this process creates for another cannot hold it. */
  readonly target?: RawTarget;
  /** Set by another role of this process: {@link RequestContext.source}. */
  readonly source?: object;
  /** Set by another role of this process: the body, which has been read. */
  readonly body?: Uint8Array<ArrayBuffer>;
}

/** The content of a Hono context of ours: what the server says of the connection, and the context of the request. */
export interface HttpEnv {
  readonly Bindings: RequestInfo;
  readonly Variables: { readonly context: RequestContext };
}

/**
 * Middleware of an app. It sees responses only: errors of what comes after it are rendered before `next()` returns.
 * Headers are set on `c.res.headers`, since `c.header()` behind `next()` copies the response.
 */
export type Middleware = MiddlewareHandler<HttpEnv>;

/** Responds to a request, or throws an error that becomes an error response. */
export type Handler = (context: RequestContext) => Response | Promise<Response>;

const DOT_SEGMENT = /(?:^|\/)(?:\.|%2e){1,2}(?:\/|$)/i;

/** The path and query of a request exactly as they were sent. */
export interface RawTarget {
  /** Begins with `/`; percent-encoding and dot segments untouched. */
  readonly path: string;
  /** Without `?`; empty when there is none. */
  readonly query: string;
}

/** Splits a request's URL without `new URL`, which would fold `.` and `..` and re-encode characters. */
export function rawTarget(url: string): RawTarget {
  const start = url.indexOf("/", url.indexOf("://") + 3);
  if (start < 0) return { path: "/", query: "" };
  const hash = url.indexOf("#", start);
  const end = hash < 0 ? url.length : hash;
  const mark = url.indexOf("?", start);
  if (mark < 0 || mark > end) return { path: url.slice(start, end), query: "" };
  return { path: url.slice(start, mark), query: url.slice(mark + 1, end) };
}

/** Whether a path has a segment `.` or `..`, encoded or not: `fetch`, `new URL` and most clients fold those away. */
export function hasDotSegment(path: string): boolean {
  return DOT_SEGMENT.test(path);
}

/**
 * A path of this origin with its query and fragment, as a browser reads it; null for any other text. For a redirect to what
 * a form or an address names.
 */
export function ownPath(text: string): string | null {
  if (text.length > MAX_CHARACTERS || !isPath(text)) return null;
  const url = URL.parse(text, HERE);
  // The origin alone does not tell a path: that of `blob:http://here.invalid/…` is its inner URL's.
  if (!url || url.protocol !== "http:" || url.origin !== HERE) return null;
  const path = url.pathname + url.search + url.hash;
  // The path of `/.//elsewhere` starts with two slashes, which would name another host.
  return path.startsWith("//") ? null : path;
}

/**
 * Whether a text is a path with exactly one leading slash. Browsers treat backslashes as slashes and drop some control
 * characters, so such a text could become another address than the one that was checked.
 */
function isPath(text: string): boolean {
  // deno-lint-ignore no-control-regex
  return /^\/(?!\/)[^\\\u0000-\u001f\u007f]*$/.test(text);
}

/** Longest path. */
const MAX_CHARACTERS = 4096;

const HERE = "http://here.invalid";

/** A target as the address of a link. */
export function addressOf({ path, query }: RawTarget): string {
  return query === "" ? path : `${path}?${query}`;
}

/** The key of an unknown address, such as that of a request without a network. */
const UNKNOWN = "unknown";

/**
 * The address of the client that a request came from: in `X-Forwarded-For` the entry that the outermost of our own
 * proxies wrote, else the peer's. A list that is shorter, or an entry that is no address, was not written by our
 * proxies: then the peer counts. IPv4 addresses that are written as IPv6 become IPv4.
 *
 * @param trustedHops how many proxies in front of this role are ours; 0 ignores the header, since any client may send one
 */
export function clientAddress(forwardedFor: string | null, peer: string | null, trustedHops: number): string | null {
  const entry = trustedHops > 0 ? forwardedFor?.split(",").at(-trustedHops) : undefined;
  return (entry === undefined ? null : readAddress(entry.trim())) ?? (peer === null ? null : readAddress(peer));
}

/**
 * The key under which an address is counted: IPv4 addresses separately, IPv6 by /64, the smallest network of a customer
 * (RFC 6177), so that all addresses of a client share one count.
 */
export function addressKey(address: string | null): string {
  if (address === null) return UNKNOWN;
  if (!address.includes(":")) return address;
  const groups = ipv6Groups(address);
  return groups.slice(0, 4).map((group) => group.toString(16)).join(":") + "::/64";
}

/** The peer's address, an IPv4 one as such however it is written; null where the connection has none. */
export function peerAddress(info: { readonly remoteAddr?: Deno.Addr } | undefined): string | null {
  const address = info?.remoteAddr;
  return address && "hostname" in address ? readAddress(address.hostname) ?? address.hostname : null;
}

/** An address without port, brackets and zone, as proxies write them; null for anything else. */
function readAddress(text: string): string | null {
  if (isIPv4(text)) return text;
  const bare = text.replace(/^\[(.*)\](?::\d+)?$/, "$1").replace(/%.*$/, "").toLowerCase();
  if (isIPv6(bare)) return mappedIPv4(ipv6Groups(bare)) ?? bare;
  const [host, port, ...rest] = text.split(":");
  return port !== undefined && rest.length === 0 && isIPv4(host) ? host : null;
}

/** The IPv4 address in an IPv6 one of the form `::ffff:a.b.c.d` (RFC 4291, section 2.5.5.2). */
function mappedIPv4(groups: readonly number[]): string | null {
  if (groups[5] !== 0xffff || groups.slice(0, 5).some((group) => group !== 0)) return null;
  return groups.slice(6).flatMap((group) => [group >> 8, group & 0xff]).join(".");
}

/** The eight groups of an IPv6 address in any of its spellings. */
function ipv6Groups(address: string): number[] {
  const [head, tail] = address.split("::");
  const left = groupsOf(head);
  const right = tail === undefined ? [] : groupsOf(tail);
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
}

function groupsOf(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((part) => {
    if (!part.includes(".")) return [parseInt(part, 16)];
    const [a, b, c, d] = part.split(".").map(Number);
    return [a << 8 | b, c << 8 | d];
  });
}

type Sent = Pick<Request, "headers">;

/** How many of our own proxies a request came through; no entry for none. */
const proxies = new WeakMap<Sent, number>();

/** Sets how many of our own proxies a request came through: only their headers count. */
export function trustProxies(request: Sent, count: number): void {
  if (count > 0) proxies.set(request, count);
}

/** Trusts the forwarded headers of a copy like those of the request. */
export function trustCopy(copy: Sent, request: Sent): void {
  trustProxies(copy, proxies.get(request) ?? 0);
}

/**
 * The host or scheme of the browser's address, as the outermost of our own proxies wrote it. In a list that is the entry
 * of this proxy, or the first one where a later proxy wrote the header anew. Null where no proxy is ours, since any
 * client may send such a header.
 */
export function forwarded(request: Sent, name: "X-Forwarded-Host" | "X-Forwarded-Proto"): string | null {
  const count = proxies.get(request);
  const entries = count === undefined ? undefined : request.headers.get(name)?.split(",");
  return (entries?.at(-(count ?? 1)) ?? entries?.[0])?.trim() || null;
}

/** The limit that is reached: the share of one key, such as an address, or all. */
export type Full = "address" | "all";

type Leave = () => void;

/**
 * Limits how much runs at a time, in all and for each key, such as a client's address, so that no key can take every slot.
 * A key without slots takes no memory.
 */
export class Slots {
  readonly max: number;
  readonly #byKey = new Map<string, number>();
  #count = 0;

  /** @param max Infinity: only keys are limited */
  constructor(max: number, private readonly maxPerKey = max) {
    this.max = max;
  }

  /** How many are taken, in all. */
  get count(): number {
    return this.#count;
  }

  /** How many are taken of one key. */
  countOf(key: string): number {
    return this.#byKey.get(key) ?? 0;
  }

  /** Takes a slot. @returns a function that releases it, once however often it is called; or what is full */
  enter(key = ""): Leave | Full {
    if (this.#count >= this.max) return "all";
    const before = this.countOf(key);
    if (before >= this.maxPerKey) return "address";
    this.#count++;
    this.#byKey.set(key, before + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#count--;
      const left = this.countOf(key) - 1;
      if (left > 0) this.#byKey.set(key, left);
      else this.#byKey.delete(key);
    };
  }
}

/** Requests that a role handles at a time, unless the settings say otherwise. */
export const DEFAULT_MAX_REQUESTS = 1024;
const RETRY_AFTER_SECONDS = 1;

/** Most of a role's requests for one tenant, so that no tenant can take them all. */
export function maxTenantRequests(maxRequests: number): number {
  return Math.ceil(maxRequests / 2);
}

/**
 * Limits how many requests a role handles at a time: beyond that it returns 503 with Retry-After at once, before anything
 * is read. A request with a body takes a slot of `logins` instead, since it needs no credentials and may arrive slowly: it
 * waits for one as {@link UnprovenRequests} says. The slot is released by `handledBy` in app.ts, which comes before it.
 */
export function limitConcurrency(role: Slots, logins: UnprovenRequests): Middleware {
  return async function limitConcurrency(c, next) {
    const context = c.get("context");
    const { method } = context;
    if (context.role === undefined) {
      throw new Error("limitConcurrency without handledBy before it: its slots are never released");
    }
    try {
      if (method === "GET" || method === "HEAD") enterRole(role, context);
      else context.hold(await logins.enter(context));
    } catch (error) {
      cancelBody(context.request);
      throw error;
    }
    await next();
  };
}

/** Takes a slot of a role for a request. @throws HttpError 503 when all are taken */
export function enterRole(role: Slots, context: RequestContext): void {
  context.hold(slotOf(role));
}

/**
 * Takes a slot of a role for a request, and one of its tenant's share (null: the system level).
 *
 * @throws HttpError 503 when one of them is not free; then none is taken
 */
export function enterTenant(role: Slots, tenants: Slots, context: RequestContext, tenant: string | null): void {
  const leaveRole = slotOf(role);
  const leaveTenant = tenants.enter(tenant?.toLowerCase() ?? "");
  if (typeof leaveTenant === "string") {
    leaveRole();
    throw tooMany("Too many requests of this tenant", "tenant_full");
  }
  context.hold(leaveRole);
  context.hold(leaveTenant);
}

function slotOf(role: Slots): Leave {
  const leave = role.enter();
  if (typeof leave === "string") throw tooMany("Too many requests", "role_full");
  return leave;
}

function tooMany(what: string, refusal: Refusal): HttpError {
  return unavailable(`${what} at a time`, RETRY_AFTER_SECONDS, refusal);
}

/**
 * Requests of clients whose credentials are not checked yet: from one address, and in all. Those of an address are as many
 * as the wrong passwords that it may try, so that right ones never count as guesses.
 */
export const MAX_UNPROVEN_PER_ADDRESS = 60;

export const MAX_UNPROVEN = 512;

/** Requests with a body that need no credentials, such as logins: from one address, and in all. */
export const MAX_LOGINS_PER_ADDRESS = 16;

export const MAX_LOGINS = 256;

/** How long a request waits for a slot, ms. */
const MAX_WAIT_MS = 1000;
/** Requests that wait for a slot: from one address, and in all. Further ones are refused at once. */
const MAX_WAITING_PER_ADDRESS = 256;
const MAX_WAITING = 1024;

/** A request that waits for a slot. */
interface Waiting {
  readonly address: string;
  readonly begin: (leave: Leave) => void;
}

/**
 * Slots for requests whose credentials are not proven, separate from those for proven ones. A request waits if none is
 * free, so that the workers of one host may start at the same time.
 */
export class UnprovenRequests {
  readonly #limit: Slots;
  readonly #waitLimit = new Slots(MAX_WAITING, MAX_WAITING_PER_ADDRESS);
  /** In the order of their arrival. */
  readonly #waiting = new Set<Waiting>();

  constructor(maxPerAddress: number, max: number, private readonly maxWaitMs = MAX_WAIT_MS) {
    this.#limit = new Slots(max, maxPerAddress);
  }

  /** How many are taken. */
  get count(): number {
    return this.#limit.count;
  }

  /** How many there are. */
  get max(): number {
    return this.#limit.max;
  }

  /** How many requests wait for a slot. */
  get waiting(): number {
    return this.#waitLimit.count;
  }

  /**
   * Takes a slot for a request, after a wait of up to a second where none is free.
   *
   * @returns a function that releases the slot, once however often it is called
   * @throws HttpError 503 when none became free, or too many requests wait
   */
  async enter(context: RequestContext): Promise<() => void> {
    const address = addressKey(context.clientAddress);
    const slot = this.#take(address);
    return typeof slot === "function" ? slot : await this.#wait(address, slot);
  }

  async #wait(address: string, full: Full): Promise<Leave> {
    const stopWaiting = this.#waitLimit.enter(address);
    if (typeof stopWaiting === "string") throw noSlot(full);
    const { promise, resolve, reject } = Promise.withResolvers<Leave>();
    const waiting: Waiting = { address, begin: resolve };
    this.#waiting.add(waiting);
    const timer = setTimeout(() => {
      this.#waiting.delete(waiting);
      reject(noSlot(full));
    }, this.maxWaitMs);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      stopWaiting();
    }
  }

  #take(address: string): Leave | Full {
    const leave = this.#limit.enter(address);
    if (typeof leave === "string") return leave;
    return () => {
      leave();
      this.#beginNext();
    };
  }

  /** Gives a free slot to the first waiting request that may have it. */
  #beginNext(): void {
    for (const waiting of this.#waiting) {
      const slot = this.#take(waiting.address);
      if (typeof slot === "string") continue;
      this.#waiting.delete(waiting);
      return waiting.begin(slot);
    }
  }
}

function noSlot(full: Full): HttpError {
  return full === "address"
    ? tooMany("Too many requests of this address", "address_full")
    : tooMany("Too many requests without proven credentials", "unproven_full");
}

const REDACTED = "[redacted]";
const SECRET_NAME =
  /^(?:.*password.*|pwd|ticket|token|.*_token|.*_session|authorization|.*secret.*|x-amz-.*|signature|awsaccesskeyid)$/i;
/** Continuation tokens are positions in a listing, not secrets; operators need them to follow a paged client. */
const OPEN_NAMES = new Set(["continuation_token"]);
/** The header of a token is short: a longer run would be scanned again from each `eyJ` in it. */
const BEARER_VALUE = /^(?:bearer|basic|hcp|ad|aws|aws4-hmac-sha256)[\s+]|eyJ[\w-]{5,256}\.[\w-]{5,}\./i;
/** All secrets have one of these; most paths have none. */
const MAY_HOLD_SECRETS = /[=:\s<]|%3[ad]|eyJ/i;
/** A quotation mark around a name or a value of JSON, which may itself stand in a string. */
const QUOTE = String.raw`\\*["']?`;
/** Between a name and its value; a URL in a URL is percent-encoded, once for each URL around it. */
const EQUALS = String.raw`(?:=|%(?:25)*3d)`;
const EQUALS_OR_COLON = String.raw`(?:[=:]|%(?:25)*3[ad])`;

/**
 * Patterns of secrets in free text, and their replacements. Names start at a word boundary, so that a long text is scanned
 * once; an escape may precede the word (`%3Fticket`). An authorization takes the rest of its line.
 */
const SECRET_TEXT: readonly (readonly [pattern: RegExp, shown: string])[] = [
  // Before the names, since an access key may end in one, such as `pwd`.
  [/\b(bearer|hcp)\s+[\w.~+/=:-]{8,}/gi, `$1 ${REDACTED}`],
  [/\b(aws)\s+[^\s:&"'<>]+:[\w+/=%-]{8,}/gi, `$1 ${REDACTED}`],
  [
    secretText(
      String.raw`\b\w*authorization`,
      String.raw`${QUOTE}\s*${EQUALS_OR_COLON}\s*\[?${QUOTE}`,
      String.raw`&\r\n`,
    ),
    `$1$2${REDACTED}`,
  ],
  [
    secretText(
      String.raw`x-amz-[\w-]{1,64}|\b\w*(?:password\w{0,32}|ticket|pwd|awsaccesskeyid)`,
      String.raw`${QUOTE}\s*${EQUALS_OR_COLON}\s*${QUOTE}`,
      String.raw`&\s`,
    ),
    `$1$2${REDACTED}`,
  ],
  // After a colon these are words of a sentence, but for the members of JSON.
  [
    secretText(
      String.raw`\b\w*(?:signature|credential|_session|token(?<!continuation_token))`,
      String.raw`\s*${EQUALS}\s*|\\*["']\s*:\s*${QUOTE}`,
      String.raw`&\s,`,
    ),
    `$1$2${REDACTED}`,
  ],
  // S3 repeats these of a request whose signature is wrong.
  [/(<(?:AWSAccessKeyId|SignatureProvided|StringToSign|CanonicalRequest)>)[^<]+/gi, `$1${REDACTED}`],
  // User and password of an address, such as that of a Redis server.
  [/(:\/\/)[^\s\/?#@"'<>\\]+@/g, `$1${REDACTED}@`],
  [/(?:\b|(?<=%[0-9A-Fa-f]{2}))eyJ[\w-]{1,256}\.[\w-]*\.?[\w-]*/g, REDACTED],
];
const MAX_LOGGED_QUERY = 2048;

/** Whether a field of this name holds a secret, in queries, forms and bodies alike. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name) && !OPEN_NAMES.has(name.toLowerCase());
}

/**
 * A raw query string (without `?`) for the log: names stay, the values of secret ones and whatever looks like a bearer
 * token or a signed address become `[redacted]`. At most 2,048 characters.
 */
export function redactQuery(query: string): string {
  if (query === "") return "";
  const parts = query.split("&").map((part) => {
    const cut = part.indexOf("=");
    if (cut < 0) return showsSecret(decoded(part)) ? REDACTED : part;
    const secret = isSecretName(decoded(part.slice(0, cut))) || showsSecret(decoded(part.slice(cut + 1)));
    return secret ? `${part.slice(0, cut)}=${REDACTED}` : part;
  });
  return parts.join("&").slice(0, MAX_LOGGED_QUERY);
}

/** Also a signed address may be the value of something. */
function showsSecret(value: string): boolean {
  return BEARER_VALUE.test(value) || redactText(value) !== value;
}

/** Free text (an upstream's message, a stack) without signed query values, tokens and authorization values. */
export function redactText(text: string): string {
  if (!MAY_HOLD_SECRETS.test(text)) return text;
  return SECRET_TEXT.reduce((shown, [pattern, replacement]) => shown.replace(pattern, replacement), text);
}

/** A raw path for the log. If only the decoded path shows a secret, the whole path is redacted. */
export function redactPath(path: string): string {
  const shown = redactText(path);
  if (shown !== path || !MAY_HOLD_SECRETS.test(path) || !path.includes("%")) return shown;
  const plain = decoded(path);
  return redactText(plain) === plain ? path : REDACTED;
}

/** Matches a name, a separator, and the value up to `ends` or a quotation mark. */
function secretText(names: string, between: string, ends: string): RegExp {
  return new RegExp(`(${names})(${between})[^${ends}"'<>\\\\]+`, "gi");
}

function decoded(text: string): string {
  return percentDecoded(text.replaceAll("+", " ")) ?? text;
}

/** Keeps a response out of the frames of other pages (CSP Level 3, frame-ancestors). */
export const UNFRAMED_POLICY = "frame-ancestors 'none'";

/** The policy of content that is not ours to trust: a document may do nothing, and no page may frame it. */
export const SANDBOX_POLICY = `default-src 'none'; sandbox; ${UNFRAMED_POLICY}`;

const DEFAULT_HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy": UNFRAMED_POLICY,
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "strict-origin-when-cross-origin",
};

/**
 * Adds the headers that every response of every role carries, unless the response has them. A policy without
 * frame-ancestors, such as one of another service, gets a second policy beside it: browsers enforce both.
 */
export function addDefaultHeaders(headers: Headers): void {
  for (const name in DEFAULT_HEADERS) {
    const own = headers.get(name);
    if (own === null) headers.set(name, DEFAULT_HEADERS[name]);
    else if (name === "Content-Security-Policy" && !own.includes(UNFRAMED_POLICY)) {
      headers.append(name, UNFRAMED_POLICY);
    }
  }
}
