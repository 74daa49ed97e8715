import { Buffer } from "node:buffer";
import type { z } from "zod";
import type { Caller, Verdict } from "@/lib/auth/store_credentials.ts";
import { badGateway, badRequest, credentialsRefused, gatewayTimeout, HttpError, notFound } from "@/lib/http/errors.ts";
import {
  type FailureDetails,
  guardedStream,
  readCapped,
  type UpstreamClient,
  UpstreamError,
  upstreamFailure,
  type UpstreamResponse,
} from "@/lib/http/upstream.ts";
import { redactText } from "@/lib/http/request_context.ts";
import type { StoreQuery } from "@/lib/mapi/records/fields.ts";
import {
  announcedLength,
  BodyTooLong,
  boundedReader,
  IDLE_MS,
  SHORT_BODY_MS,
  SlowBody,
  STREAM_BOUNDS,
  streamReader,
} from "@/lib/std/body_reader.ts";
import { markRequest, type StoreAddresses } from "@/lib/std/store_addresses.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";

/** Longest response body that is read whole, bytes. */
const MAX_WHOLE_BYTES = 8 * 1024 * 1024;

const FAILURES: FailureDetails = {
  unreachable: "HCP unreachable",
  timeout: "HCP timed out",
  broken: "HCP connection error",
};

declare const encoded: unique symbol;
/** A path below `/mapi` whose names are encoded; only {@link mapiPath} creates one. */
export type MapiPath = string & { readonly [encoded]: true };

/** Shared by all management operations, independent of the caller. */
export interface Mapi {
  readonly addresses: StoreAddresses;
  readonly upstream: UpstreamClient;
  /** Until the response headers, ms; also the idle timeout of a body. */
  readonly timeoutMs: number;
}

export interface MapiCall {
  readonly method: "GET" | "HEAD" | "PUT" | "POST" | "DELETE";
  readonly path: MapiPath;
  readonly query?: StoreQuery;
  /** Sent as JSON without members that are null or undefined. */
  readonly body?: Readonly<Record<string, unknown>>;
  /** The subject of error messages, such as `tenant 'x'`. */
  readonly resource: string;
  /** Called when the client stops reading a list that is passed on. */
  readonly unread?: () => void;
}

interface MapiResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Its JSON; `{}` where there was none. */
  readonly body: unknown;
}

/**
 * Fills in the names of a template such as `/tenants/{tenant_name}/cors`: each is one segment, whatever is in it.
 *
 * @throws HttpError 400 for names that no path segment can carry
 */
export function mapiPath(template: string, names: Readonly<Record<string, string>>): MapiPath {
  return template.replace(/\{(\w+)\}/g, (_, name) => segment(names[name] ?? "")) as MapiPath;
}

/** The body of the store's response in its documented shape. @throws HttpError 502 when it has another */
export function storeAnswer<S extends z.ZodType>(schema: S, body: unknown, resource: string): z.output<S> {
  const result = schema.safeParse(body);
  if (!result.success) throw badGateway(`${resource}: the store's answer is not MAPI's`);
  return result.data;
}

/**
 * One request to the management API with the caller's own credentials, at the host of the caller's tenant (not of the
 * tenant in the path). Redirects are not followed, failures are not retried.
 *
 * @throws HttpError by the store's status (`mapiFailure`); 502 when it is unreachable, 504 when it does not respond
 */
export async function callMapi(mapi: Mapi, caller: Caller, call: MapiCall): Promise<MapiResponse> {
  try {
    return await readWhole(mapi, call, await send(mapi, caller, call));
  } catch (error) {
    throw error instanceof HttpError ? error : transportFailure(error);
  }
}

/**
 * The same of a list of records, which may be longer than what is read whole: then it is the bytes of the store's
 * array, to be passed on as they come ({@link readList}).
 *
 * @throws HttpError likewise, as long as nothing was passed on
 */
export async function callMapiForRecords(
  mapi: Mapi,
  caller: Caller,
  call: MapiCall,
): Promise<MapiResponse | ReadableStream<Uint8Array<ArrayBuffer>>> {
  try {
    const response = await send(mapi, caller, call);
    const mayBeLong = !(Number(response.headers.get("content-length") ?? Infinity) <= MAX_WHOLE_BYTES);
    if (!response.ok || !mayBeLong) return await readWhole(mapi, call, response);
    const list = await readList(response, MAX_WHOLE_BYTES, mapi.timeoutMs, call.unread);
    if (typeof list !== "string") return list;
    return { status: response.status, headers: response.headers, body: parsed(list) };
  } catch (error) {
    throw error instanceof HttpError ? error : transportFailure(error);
  }
}

async function send(mapi: Mapi, caller: Caller, call: MapiCall): Promise<UpstreamResponse> {
  if (caller.mapiAuthorization === null) throw credentialsRefused("HCP authentication failed");
  const headers: Record<string, string> = { authorization: caller.mapiAuthorization, accept: "application/json" };
  const body = call.body ? JSON.stringify(withoutNulls(call.body)) : null;
  if (body !== null) headers["content-type"] = "application/json";
  markRequest(mapi.addresses, caller, call.method, headers);
  const origin = await mapi.addresses.mapi(caller.tenant);
  const response = await mapi.upstream.send({
    method: call.method,
    origin,
    target: `/mapi${call.path}${queryString(call.query ?? {})}`,
    headers,
    body,
    signal: caller.signal,
    timeoutMs: mapi.timeoutMs,
  });
  const verdict = verdictOf(response);
  if (verdict) await caller.onVerdict?.(verdict);
  return response;
}

/** Checks the caller's credentials at the management API, for callers who may list tenants. */
export async function proveByMapi(mapi: Mapi, caller: Caller): Promise<void> {
  await callMapi(mapi, caller, {
    method: "GET",
    path: mapiPath("/tenants", {}),
    query: { count: 1 },
    resource: "credentials",
  });
}

/** Statuses besides 2xx that only a store gives which accepts the credentials. */
const ACCEPTED_STATUSES: ReadonlySet<number> = new Set([400, 404, 409]);

/** The verdict of a response on the caller's credentials; null: none. */
function verdictOf({ ok, status }: Response): Verdict | null {
  if (status === 401) return "refused";
  if (status === 403) return "denied";
  return ok || ACCEPTED_STATUSES.has(status) ? "accepted" : null;
}

async function readWhole(mapi: Mapi, call: MapiCall, response: UpstreamResponse): Promise<MapiResponse> {
  const text = await readCapped(response, MAX_WHOLE_BYTES, Math.min(mapi.timeoutMs, SHORT_BODY_MS));
  if (!response.ok) throw mapiFailure(response, text, call.resource);
  return { status: response.status, headers: response.headers, body: parsed(text) };
}

function transportFailure(error: unknown): HttpError {
  if (error instanceof SlowBody) return gatewayTimeout(FAILURES.timeout);
  if (error instanceof BodyTooLong) return badGateway(`${FAILURES.broken}: ${error.message}`, error);
  return upstreamFailure(error, FAILURES);
}

function segment(name: string): string {
  if (name === "" || name === "." || name === ".." || !name.isWellFormed()) {
    throw badRequest("a name in the path is empty, a dot segment or not well-formed Unicode");
  }
  return encodeURIComponent(name);
}

function queryString(query: StoreQuery): string {
  let text = "";
  for (const name in query) {
    const value = query[name];
    if (value === undefined) continue;
    // `fetch` would encode an apostrophe by itself.
    const encoded = encodeURIComponent(String(value).toWellFormed()).replaceAll("'", "%27");
    text += `${text === "" ? "?" : "&"}${encodeURIComponent(name)}=${encoded}`;
  }
  return text;
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null && member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]));
}

function parsed(text: string): unknown {
  const value = parsedJson(text);
  return typeof value === "object" && value !== null ? value : {};
}

const PROBE_TIMEOUT_MS = 5000;

/** Whether the management API responds, with any HTTP status. Sends no credentials. */
export async function mapiReachable(mapi: Pick<Mapi, "addresses" | "upstream">): Promise<boolean> {
  try {
    const response = await mapi.upstream.send({
      method: "HEAD",
      origin: await mapi.addresses.mapi(null),
      target: "/mapi/tenants",
      headers: {},
      timeoutMs: PROBE_TIMEOUT_MS,
    });
    await response.body?.cancel();
    return true;
  } catch (error) {
    if (error instanceof UpstreamError) return false;
    throw error;
  }
}

const MESSAGE_HEADER = "X-HCP-ErrorMessage";
const MAX_DETAIL_CHARACTERS = 1000;

/** The error response for a status of the management API. */
export function mapiFailure(response: Response, body: string, resource: string): HttpError {
  const { status } = response;
  const detail = detailOf(response, body);
  switch (status) {
    case 302:
      // HCP redirects requests for an absent resource to its console.
      return new HttpError(404, `${resource} not found or no permission`);
    case 400:
    case 403:
      return new HttpError(status, detail);
    case 401:
      return credentialsRefused("HCP authentication failed");
    case 404:
      return notFound(resource);
    case 405:
      return new HttpError(405, "Method not allowed for this resource");
    case 409:
      return new HttpError(409, `${resource}: ${detail}`);
    case 414:
      return new HttpError(414, "Request URI too large");
    case 415:
      return new HttpError(415, "Unsupported media type");
    case 500:
      return new HttpError(502, `HCP internal error: ${detail}`);
    case 507:
      return new HttpError(507, `${resource}: ${detail}`);
    case 503:
      return new HttpError(503, `HCP unavailable: ${detail}`);
    default:
      return new HttpError(502, `Unexpected HCP status ${status}: ${detail}`);
  }
}

function detailOf(response: Response, body: string): string {
  const header = response.headers.get(MESSAGE_HEADER);
  const text = header ? Buffer.from(header, "latin1").toString("utf8") : body;
  const clean = redactText(text.slice(0, 4 * MAX_DETAIL_CHARACTERS)).replace(/\p{Cc}+/gu, " ").trim();
  return clean.slice(0, MAX_DETAIL_CHARACTERS) || `HCP returned ${response.status}`;
}

/** Longest list that is handed on, in bytes: 10,000 records, which is the store's own bound, of 13 KiB each. */
const MAX_LIST_BYTES = 128 * 1024 * 1024;

const [CLOSE_LIST, ...SPACE_BYTES] = new TextEncoder().encode("] \t\r\n");
const SPACES = new Set(SPACE_BYTES);

/**
 * Reads an array of records. A list of at most `heldBytes` is a text. Of a longer one no more than that is held, and the
 * rest is read as it is passed on, so that it is never in memory whole. Should the rest break off, stall, exceed
 * {@link MAX_LIST_BYTES} or end without the array's bracket, the stream breaks too. More of its JSON is not read here.
 *
 * @param stallMs longest wait for the next chunk, if that is less than what all bodies have
 * @param unread called when the client stops reading
 * @throws BodyTooLong for what is long and no array, SlowBody, or what breaks the body
 */
export async function readList(
  response: Response,
  heldBytes: number,
  stallMs: number,
  unread?: () => void,
): Promise<string | ReadableStream<Uint8Array<ArrayBuffer>>> {
  if (!response.body) return "";
  const bounds = { ...STREAM_BOUNDS, idleMs: Math.min(stallMs, IDLE_MS) };
  const reader = boundedReader(streamReader(response.body), { maxBytes: MAX_LIST_BYTES, bounds });
  const held: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  try {
    if ((announcedLength(response) ?? 0) > MAX_LIST_BYTES) throw new BodyTooLong(MAX_LIST_BYTES);
    while (length <= heldBytes) {
      const chunk = await reader.read();
      if (chunk === null) return await new Blob(held).text();
      held.push(chunk);
      length += chunk.length;
    }
    if (!(await new Blob(held).text()).trimStart().startsWith("[")) throw new BodyTooLong(heldBytes);
  } catch (error) {
    reader.cancel();
    throw error;
  }
  let isEnded = false;
  const read = async () => {
    const chunk = held.shift() ?? await reader.read();
    // A body without a length that is cut off seems to end.
    if (chunk === null && !isEnded) throw new Error("the list has no end");
    const last = chunk?.findLast((byte) => !SPACES.has(byte));
    if (last !== undefined) isEnded = last === CLOSE_LIST;
    return chunk;
  };
  return guardedStream({ read, cancel: () => reader.cancel() }, { what: "the store's list", unread });
}
