import { type Coded, codedSentence, type CodedText, type SentenceCode, type ValuesOf } from "@/lib/std/coded.ts";

/** One problem of one request field, in the wire shape of a 422 response. */
export interface ValidationEntry {
  readonly type: string;
  /** Where the problem is: `body`, `query` or `path`, then member names and indexes. */
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly input?: string | number | boolean | null;
  readonly ctx?: Readonly<Record<string, string | number>>;
}

/** The `detail` of an error response. */
type ErrorDetail = string | readonly ValidationEntry[] | Readonly<Record<string, unknown>>;

/** Reasons to refuse a request that would be handled later or from another client; counted in metrics. */
export const REFUSALS = [
  "role_full",
  "tenant_full",
  "address_full",
  "unproven_full",
  "guesses_address",
  "guesses_account",
  "tasks_of_user",
  "tasks_of_tenant",
  "tasks_in_all",
  "logins_full",
  "uploads_full",
  "archives_full",
  "event_streams_full",
  "host",
] as const;
export type Refusal = (typeof REFUSALS)[number];

export interface HttpErrorOptions {
  /** The code of a detail that pages translate. */
  readonly coded?: Coded | null;
  /** Counted in metrics. */
  readonly refusal?: Refusal;
  /** Sent with the response, for example `WWW-Authenticate`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The error underneath; never shown. */
  readonly cause?: unknown;
}

/**
 * An expected failure: a status and a detail that the caller may read. Thrown where the cause is known and rendered by
 * {@link renderError}; nothing secret may stand in `detail`.
 */
export class HttpError extends Error {
  override readonly name = "HttpError";
  readonly status: number;
  readonly detail: ErrorDetail;
  readonly headers: Readonly<Record<string, string>>;
  readonly refusal: Refusal | undefined;
  /** The code of the detail; null: it has none. */
  readonly coded: Coded | null;

  constructor(status: number, detail: ErrorDetail, options: HttpErrorOptions = {}) {
    // The stack of an expected failure is never shown, and capturing it is a tenth of the cost of an error response.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(typeof detail === "string" ? detail : `HTTP ${status}`, { cause: options.cause });
    Error.stackTraceLimit = stackTraceLimit;
    this.status = status;
    this.detail = detail;
    this.headers = options.headers ?? {};
    this.refusal = options.refusal;
    this.coded = options.coded ?? null;
  }
}

/** The failure whose sentence has this code. */
export function codedError<Code extends SentenceCode>(
  status: number,
  code: Code,
  ...values: ValuesOf<Code>
): HttpError {
  const { text, coded } = codedSentence(code, ...values);
  return new HttpError(status, text, { coded });
}

/** The sentence of an expected failure. */
export function sentenceOf({ message, coded }: HttpError): CodedText {
  return { text: message, coded };
}

/** An error in a line of the log: its status or name alone, since its message may hold a path. */
export function errorName(error: unknown): string {
  if (error instanceof HttpError) return `status ${error.status}`;
  return error instanceof Error ? error.name : typeof error;
}

/** 400: invalid request; the detail names the field. */
export function badRequest(detail: string, options?: HttpErrorOptions): HttpError {
  return new HttpError(400, detail, options);
}

/** 401 of the bearer scheme. */
export function notAuthenticated(detail = "Not authenticated"): HttpError {
  return new HttpError(401, detail, { headers: { "WWW-Authenticate": "Bearer" } });
}

/** 401 of a store: the token is valid, but not the credentials in it. */
export function credentialsRefused(detail: string): HttpError {
  return new HttpError(401, detail);
}

/** 403: known, but not allowed. */
export function forbidden(detail: string): HttpError {
  return new HttpError(403, detail);
}

/** 404 of a resource, such as `notFound("tenant 'x'")`; without a name the response to an unknown path. */
export function notFound(what?: string): HttpError {
  return new HttpError(404, what ? `${what} not found` : "Not Found");
}

/** 405 with the methods that the path does know. */
export function methodNotAllowed(allowed: Iterable<string>): HttpError {
  return new HttpError(405, "Method Not Allowed", { headers: { Allow: [...allowed].sort().join(", ") } });
}

/** 408: the client took too long to send its body. */
export function requestTimeout(): HttpError {
  return new HttpError(408, "The request body took too long");
}

/** 413 with the limit in bytes. */
export function payloadTooLarge(limitBytes: number): HttpError {
  return new HttpError(413, `Request body exceeds ${limitBytes} bytes`);
}

/** 422 with one entry per problem. */
export function invalid(entries: readonly ValidationEntry[]): HttpError {
  return new HttpError(422, entries);
}

/** 422 with one sentence. */
export function unprocessable(detail: string): HttpError {
  return new HttpError(422, detail);
}

/** 429: too often; `retryAfterSeconds` is sent as Retry-After. */
export function tooManyRequests(detail: string, retryAfterSeconds: number, refusal?: Refusal): HttpError {
  return new HttpError(429, detail, { headers: { "Retry-After": String(retryAfterSeconds) }, refusal });
}

/** 502: an upstream is unreachable or its response is malformed. */
export function badGateway(detail: string, cause?: unknown, coded?: Coded): HttpError {
  return new HttpError(502, detail, { cause, coded });
}

/** 502: the pages of a store's listing repeat themselves. */
export function listingStuck(bucket: string): HttpError {
  return codedError(502, "listing_stuck", { bucket });
}

/** 503: cannot serve now; `retryAfterSeconds` is sent as Retry-After. */
export function unavailable(detail: string, retryAfterSeconds: number, refusal?: Refusal): HttpError {
  return new HttpError(503, detail, { headers: { "Retry-After": String(retryAfterSeconds) }, refusal });
}

/** 504: an upstream did not respond in time. */
export function gatewayTimeout(detail: string, coded?: Coded): HttpError {
  return new HttpError(504, detail, { coded });
}

/** 499 (as in nginx): the client disconnected before the response; shown in the access log only. */
export function clientClosedRequest(cause?: unknown): HttpError {
  return new HttpError(499, "Client closed the request", { cause });
}
