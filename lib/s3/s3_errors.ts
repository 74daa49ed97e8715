import { HttpError, type HttpErrorOptions } from "@/lib/http/errors.ts";
import { readCapped } from "@/lib/http/upstream.ts";
import { redactText } from "@/lib/http/request_context.ts";
import { unescapeXml } from "@/lib/std/xml_scanner.ts";

const MAX_ERROR_BYTES = 64 * 1024;
const MAX_MESSAGE_CHARACTERS = 500;

/** Codes that mean a rejected signature. */
const REFUSED_CODES: readonly string[] = ["InvalidAccessKeyId", "SignatureDoesNotMatch"];

/** Error codes of S3 by the status that they mean, whatever status the store sent with them. */
const CODES: Readonly<Record<number, readonly string[]>> = {
  400: ["InvalidBucketName", "TooManyBuckets", "InvalidArgument", "InvalidPart", "InvalidPartOrder", "EntityTooSmall"],
  401: REFUSED_CODES,
  403: ["AccessDenied"],
  404: ["NoSuchBucket", "NoSuchKey", "NoSuchUpload", "NoSuchVersion"],
  408: ["RequestTimeout"],
  // The last two, like 412, may also be errors of a copy or a completion under status 200.
  409: [
    "BucketNotEmpty",
    "BucketAlreadyExists",
    "BucketAlreadyOwnedByYou",
    "ConditionalRequestConflict",
    "OperationAborted",
  ],
  412: ["PreconditionFailed"],
  503: ["SlowDown", "ServiceUnavailable"],
  // Full disks; the second one is MinIO's.
  507: ["InsufficientStorage", "XMinioStorageFull"],
};
const STATUS_OF_CODE: ReadonlyMap<string, number> = new Map(
  Object.entries(CODES).flatMap(([status, codes]) => codes.map((code) => [code, Number(status)])),
);

/** The messages of responses to HEAD, which have no body. */
const WORD_OF_STATUS: Readonly<Record<number, string>> = {
  400: "Bad Request",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  412: "Precondition Failed",
  416: "Requested Range Not Satisfiable",
};

/** An error response of the store, for callers that depend on its code. */
export class S3Failure extends HttpError {
  /** The store's error code; null if the response has none. */
  readonly code: string | null;
  readonly storeStatus: number;

  constructor(
    status: number,
    detail: string,
    { code, storeStatus, ...options }: HttpErrorOptions & Pick<S3Failure, "code" | "storeStatus">,
  ) {
    super(status, detail, options);
    this.code = code;
    this.storeStatus = storeStatus;
  }
}

/**
 * The error for an error response of the store: `{resource}: {the store's message}` with the status of its error code, else
 * the store's own status, else 502. The body is read up to 64 KiB and never trusted.
 */
export async function s3Failure(response: Response, resource: string): Promise<S3Failure> {
  const text = await readCapped(response, MAX_ERROR_BYTES).catch(() => "");
  const code = element(text, "Code");
  const known = statusOf(code, response.status);
  const status = known ?? (response.status >= 400 && response.status <= 599 ? response.status : 502);
  const detail = `${resource}: ${messageOf(text, code, response.status)}`;
  const headers = { ...retryAfter(response, status), ...unsatisfiedRange(response) };
  return new S3Failure(status, detail, { headers, code, storeStatus: response.status });
}

/** The message for rejected keys. Those of some stores distinguish absent accounts from wrong secrets. */
const REFUSED_KEYS = "The store refused the credentials";

/** The status of an error code; undefined for an unknown one. */
function statusOf(code: string | null, storeStatus: number): number | undefined {
  if (code === null) return undefined;
  // HCP has one code for a full store and a full quota, which is 413.
  if (code === "OutOfSpace") return storeStatus === 413 ? 413 : 507;
  return STATUS_OF_CODE.get(code);
}

/** Statuses that a store sends only after it has accepted the signature. */
const ACCEPTED_STATUSES: ReadonlySet<number> = new Set([404, 409, 412, 416]);

/**
 * The verdict of an error response on the keys that signed the request; null where it says nothing, like the 403 of a HEAD
 * and any response that a store may send before it checks the signature.
 */
export function verdictOf({ code, storeStatus }: S3Failure): "accepted" | "refused" | null {
  if (isRefused(code)) return "refused";
  return code === "AccessDenied" || ACCEPTED_STATUSES.has(storeStatus) ? "accepted" : null;
}

function isRefused(code: string | null): boolean {
  return code !== null && REFUSED_CODES.includes(code);
}

function messageOf(text: string, code: string | null, status: number): string {
  if (isRefused(code)) return REFUSED_KEYS;
  const message = element(text, "Message") ?? code ?? WORD_OF_STATUS[status] ?? `the store returned status ${status}`;
  return cleanMessage(message);
}

/** A store's message as clients may see it: short, on one line, without signatures or addresses. */
export function cleanMessage(message: string): string {
  const clean = redactText(message).replace(/\bhttps?:\/\/\S+/gi, "[url]").replace(/\p{Cc}+/gu, " ").trim();
  return clean.slice(0, MAX_MESSAGE_CHARACTERS);
}

function retryAfter(response: Response, status: number): Record<string, string> {
  const value = response.headers.get("Retry-After");
  return status === 503 && value && /^\d{1,5}$/.test(value) ? { "Retry-After": value } : {};
}

/** The size of the object where the range lies beyond its end (RFC 9110, section 15.5.17). */
function unsatisfiedRange(response: Response): Record<string, string> {
  const value = response.headers.get("Content-Range");
  return response.status === 416 && value && /^bytes \*\/\d{1,16}$/.test(value) ? { "Content-Range": value } : {};
}

function element(xml: string, name: string): string | null {
  const start = xml.indexOf(`<${name}>`);
  const end = xml.indexOf(`</${name}>`, start);
  if (start < 0 || end < 0) return null;
  const text = xml.slice(start + name.length + 2, end);
  if (text === "" || text.includes("<")) return null;
  return unescapeXml(text) ?? null;
}

/** Whether an error says that the store does not implement an operation. */
export function isUnsupported(error: unknown): boolean {
  return error instanceof S3Failure && (error.storeStatus === 501 || error.code === "NotImplemented");
}

/** Throws HttpError 501 that names the operation where the store does not implement it; other errors pass. */
export async function supported<T>(operation: string, backend: string, work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (isUnsupported(error)) {
      throw new HttpError(501, `'${operation}' is not supported by the ${backend} backend`, { cause: error });
    }
    throw error;
  }
}
