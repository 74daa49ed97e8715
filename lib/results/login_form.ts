import { z } from "zod";
import { parseForm, parseJson, readBytes } from "@/lib/http/body.ts";
import { HttpError, invalid, type ValidationEntry } from "@/lib/http/errors.ts";
import type { RequestContext } from "@/lib/http/request_context.ts";
import { ownPath } from "@/lib/http/raw_path.ts";
import { validate } from "@/lib/http/validation.ts";

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
  const type = headers.get("Content-Type") ?? "";
  return type.split(";", 1)[0].trim().toLowerCase() === "application/x-www-form-urlencoded";
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

/** A submitted form: the path after the login, and the credentials, validated on access. */
export interface LoginForm {
  /** A path of this origin. */
  readonly next: string;
  /** The user name as typed; "" where it is missing or cannot be one. */
  readonly username: string;
  /** @throws HttpError 422 */
  credentials(): Credentials;
}

/** Reads a form; without a usable `next` it leads to `/`. @throws HttpError 413, 408 */
export async function readLoginForm(context: RequestContext): Promise<LoginForm> {
  const type = context.header("Content-Type") ?? "";
  const fields = await parseForm(await loginBody(context), type);
  return {
    next: nextPath(fields.get("next") ?? null),
    username: CREDENTIALS.shape.username.safeParse(fields.get("username")).data ?? "",
    credentials: () => credentialsOf(Object.fromEntries(fields)),
  };
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
