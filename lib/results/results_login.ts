import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { z } from "zod";
import type { S3Keys } from "@/lib/auth/store_credentials.ts";
import { parseForm, parseJson, readBytes } from "@/lib/http/body.ts";
import { HttpError, invalid, type ValidationEntry } from "@/lib/http/errors.ts";
import { cookieValues, mediaTypeOf, seeOther } from "@/lib/http/header_values.ts";
import { ownPath, type RequestContext } from "@/lib/http/request_context.ts";
import { validate } from "@/lib/http/operation.ts";
import { callS3ForHeaders } from "@/lib/s3/s3_client.ts";
import { S3Failure } from "@/lib/s3/s3_errors.ts";
import type { StoreKind } from "@/lib/s3/store_kind.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";
import { browserScheme, requireSameOrigin, type Scheme } from "@/lib/auth/session_token.ts";
import { type ResultsStore, storeCaller } from "./file_response.ts";
import { resultsError } from "./results_service.ts";

/** How S3 keys are derived from a user name and a password: `hcp` as HCP does, `none` uses them unchanged. */
export type KeyDerivation = "hcp" | "none";

/** Error codes that a store sends only after it accepted the signature. */
const ACCEPTED_CODES = new Set(["NoSuchKey", "NotFound", "404", "AccessDenied", "InvalidRange"]);
const REFUSED_CODES = new Set(["InvalidAccessKeyId", "SignatureDoesNotMatch"]);

/** A user name without the prefix `tenant/` of the results' own tenant; compared without case. */
export function withoutTenant(username: string, tenant: string | null): string {
  const prefix = `${tenant}/`;
  const repeats = tenant !== null && username.slice(0, prefix.length).toLowerCase() === prefix.toLowerCase();
  return repeats ? username.slice(prefix.length) : username;
}

/** The S3 keys of a login; null when no signature could contain them, so that no store knows them. */
export function loginKeys(derivation: KeyDerivation, username: string, password: string): S3Keys | null {
  if (derivation === "hcp") {
    return {
      accessKey: Buffer.from(username, "utf8").toString("base64"),
      secretKey: createHash("md5").update(password, "utf8").digest("hex"),
    };
  }
  // An access key is part of the Authorization header, between separators.
  return /^[\x21-\x2b\x2d-\x7e]+$/.test(username) ? { accessKey: username, secretKey: password } : null;
}

/** Whether a derivation suits a kind of store; true for stores of which that is not known. */
export function fitsStore(derivation: KeyDerivation, kind: StoreKind): boolean {
  return kind === "unknown" || (derivation === "hcp") === (kind === "hcp");
}

/**
 * Whether the store accepts these keys. The request names an object that need not exist: only the signature matters. It
 * says nothing of what the account may read: a store may deny an absent object to an account that reads every result.
 * It is not cancelled when the client disconnects, because a sent attempt counts as one.
 *
 * @param namespace the prefix of the requested object
 * @throws HttpError 502 or 504 when the response does not decide it
 */
export async function storeAcceptsKeys(
  store: ResultsStore,
  namespace: string,
  user: string,
  keys: S3Keys,
): Promise<boolean> {
  try {
    await callS3ForHeaders(store.s3, storeCaller(store, user, keys), {
      operation: "GetObject",
      method: "GET",
      bucket: store.bucket,
      key: `${namespace}/`,
      headers: { range: "bytes=0-0" },
      resource: "login",
    });
    return true;
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    const code = error instanceof S3Failure ? error.code ?? String(error.storeStatus) : "";
    if (ACCEPTED_CODES.has(code)) return true;
    if (REFUSED_CODES.has(code)) return false;
    throw error.status === 504
      ? resultsError(504, "the results store took too long to answer", { cause: error })
      : resultsError(502, "the results store could not check the login", { cause: error });
  }
}

/** Largest body of a login, bytes (spec, Limits). */
const MAX_LOGIN_BYTES = 16 * 1024;

const wellFormed = (text: string) => text.isWellFormed();
const CREDENTIALS = z.object({
  username: z.string().min(1).max(256).refine(wellFormed, "Input is not well-formed Unicode"),
  password: z.string().min(1).max(1024).refine(wellFormed, "Input is not well-formed Unicode"),
});

export type Credentials = z.output<typeof CREDENTIALS>;

/** Whether a body is a urlencoded form; everything else is read as JSON. */
export function isUrlencoded(headers: Headers): boolean {
  return mediaTypeOf(headers.get("Content-Type")) === "application/x-www-form-urlencoded";
}

/** The credentials of a JSON body. @throws HttpError 413, 422, 408 */
export async function jsonCredentials(context: RequestContext): Promise<Credentials> {
  return credentialsOf(parseJson(await loginBody(context)) ?? {});
}

async function loginBody({ info, request }: RequestContext): Promise<Uint8Array<ArrayBuffer>> {
  return info?.body ?? await readBytes(request, MAX_LOGIN_BYTES);
}

/** Validates credentials. Errors name a field and never repeat its value, which may be a password in the wrong field. */
function credentialsOf(body: unknown): Credentials {
  try {
    return validate(CREDENTIALS, body, "body");
  } catch (error) {
    if (!(error instanceof HttpError) || !Array.isArray(error.detail)) throw error;
    const entries: ValidationEntry[] = error.detail;
    throw invalid(entries.map(({ input: _omitted, ...entry }) => entry));
  }
}

/** A refused login; the login page names the seconds until the next attempt, where there is such a limit. */
export class RefusedLogin extends HttpError {
  constructor(
    status: number,
    detail: string,
    readonly retryAfter: number | null,
    readonly options: ConstructorParameters<typeof HttpError>[2] & { readonly cookies?: readonly string[] } = {},
  ) {
    super(status, detail, options);
  }
}

/** A form of the login page. */
interface LoginForm {
  /** The path after the login, of this origin; `/` without a usable one. */
  readonly next: string;
  readonly credentials: Credentials;
  readonly scheme: Scheme;
  /** The cookie that leaves a note for the login page. */
  note(note: LoginNote): string;
}

/**
 * Handles a form of the login page. An error leads back to that page with the status as `error` and a note, which names the
 * user only where the form came from a page of this origin: another site must not choose that name.
 *
 * @param now ms since 1970
 */
export async function handleLoginForm(
  context: RequestContext,
  now: () => number,
  logIn: (form: LoginForm) => Promise<Response>,
): Promise<Response> {
  // Read now: once a client has left, its request can no longer be read.
  const scheme = browserScheme(context.request);
  const note = (note: LoginNote) => loginNoteCookie(scheme, note, now());
  let next = "/";
  let username: string | null = null;
  try {
    const type = context.header("Content-Type") ?? "";
    const fields = await parseForm(await loginBody(context), type);
    next = nextPath(fields.get("next") ?? null);
    requireSameOrigin(context.request);
    username = CREDENTIALS.shape.username.safeParse(fields.get("username")).data ?? "";
    return await logIn({ next, credentials: credentialsOf(Object.fromEntries(fields)), scheme, note });
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    const path = failedLoginPath(error, next);
    if (username === null) return seeOther(path);
    const refused = error instanceof RefusedLogin ? error : null;
    if (refused?.options.cookies?.length) return seeOther(path, refused.options.cookies);
    const retryAt = refused?.retryAfter == null ? null : now() + refused.retryAfter * 1000;
    return seeOther(path, [note({ kind: "failed", username, retryAt })]);
  }
}

/** The path of the login page after a failed form, with the status, its code and the path after the login. */
export function failedLoginPath(error: HttpError, next: string): string {
  const code = error.coded ? `&code=${error.coded.code}` : "";
  return `/login?error=${error.status}${code}` + (next === "/" ? "" : `&next=${encodeURIComponent(next)}`);
}

/**
 * The path to open after a login: a path of this origin with its query and fragment. Anything else, and the login page
 * itself, becomes `/`.
 */
export function nextPath(requested: string | null): string {
  const path = requested === null ? null : ownPath(requested);
  return path === null || /^\/login\/?(?:[?#]|$)/.test(path) ? "/" : path;
}

const COOKIE = "login_note";
/** How long a browser keeps a note about a form, seconds. */
const SHORT_SECONDS = 600;
/** How long after its end the login page says that a session has ended, seconds. */
const AFTER_END_SECONDS = 24 * 3600;
/** Longest value that is read, characters: any name of 256 characters fits, also where JSON escapes each of them. */
const MAX_VALUE_CHARACTERS = 4096;
/** An instant that JavaScript's dates can hold, ms since 1970: the cookie may hold anything. */
const INSTANT = z.number().min(0).max(8.64e15);

const NOTE = z.discriminatedUnion("kind", [
  z.object({
    kind: z.literal("failed"),
    username: z.string().max(256),
    /** When the next attempt is allowed after too many wrong passwords, ms since 1970; null: not blocked. */
    retryAt: INSTANT.nullable(),
  }),
  z.object({
    kind: z.literal("session"),
    /** When the session ends by itself, ms since 1970. */
    endsAt: INSTANT,
  }),
  z.object({ kind: z.literal("loggedOut") }),
]);

/**
 * A note of a login or logout form for the next login page of the browser: the user name of a failed login, the end of a
 * session, a logout. It holds no credential and decides nothing.
 */
export type LoginNote = z.output<typeof NOTE>;

/**
 * The `Set-Cookie` value that leaves a note, in place of the one before it. Only the login page receives it, so that a
 * name stands in no address and in no log.
 *
 * @param now ms since 1970
 */
export function loginNoteCookie(scheme: Scheme, note: LoginNote, now: number): string {
  const value = Buffer.from(JSON.stringify(note)).toString("base64url");
  const age = note.kind === "session"
    ? Math.ceil((note.endsAt - now) / 1000) + AFTER_END_SECONDS
    : Math.max(SHORT_SECONDS, note.kind === "failed" && note.retryAt !== null ? (note.retryAt - now) / 1000 : 0);
  const secure = scheme === "https" ? "; Secure" : "";
  return `${COOKIE}=${value}; Max-Age=${Math.ceil(age)}; Path=/login; HttpOnly; SameSite=Strict${secure}`;
}

/** The note in a request for the login page; null without a well-formed one. */
export function readLoginNote({ headers }: Pick<Request, "headers">): LoginNote | null {
  const [value] = cookieValues(headers, COOKIE);
  if (value === undefined || value.length > MAX_VALUE_CHARACTERS) return null;
  return NOTE.safeParse(parsedJson(Buffer.from(value, "base64url").toString("utf8"))).data ?? null;
}
