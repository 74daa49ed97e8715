import { z } from "zod";
import { readForm, readJson } from "@/lib/http/body.ts";
import { HttpError, invalid, type ValidationEntry } from "@/lib/http/errors.ts";
import { validate } from "@/lib/http/validation.ts";
import { nextPath } from "./next_path.ts";

/** Largest body of a login, bytes (spec, Limits). */
const MAX_LOGIN_BYTES = 16 * 1024;

const wellFormed = (text: string) => text.isWellFormed();
const CREDENTIALS = z.object({
  username: z.string().min(1).max(256).refine(wellFormed, "Input is not well-formed Unicode"),
  password: z.string().min(1).max(1024).refine(wellFormed, "Input is not well-formed Unicode"),
});

export type Credentials = z.output<typeof CREDENTIALS>;

/** Whether a body is that of a page's form; everything else is read as JSON. */
export function isUrlencoded(headers: Headers): boolean {
  const type = headers.get("Content-Type") ?? "";
  return type.split(";", 1)[0].trim().toLowerCase() === "application/x-www-form-urlencoded";
}

/** The credentials of a JSON body. @throws HttpError 413, 422, 408 */
export async function jsonCredentials(request: Request): Promise<Credentials> {
  return credentialsOf(await readJson(request, MAX_LOGIN_BYTES) ?? {});
}

/** Checked credentials. What is wrong is named and never repeated: it may be a password in the wrong place. */
function credentialsOf(body: unknown): Credentials {
  try {
    return validate(CREDENTIALS, body, "body");
  } catch (error) {
    if (!(error instanceof HttpError) || !Array.isArray(error.detail)) throw error;
    const entries: ValidationEntry[] = error.detail;
    throw invalid(entries.map(({ input: _unsaid, ...entry }) => entry));
  }
}

/** What a form says: where it wants to go, and its credentials once they are asked for. */
export interface LoginForm {
  /** A path of our own origin. */
  readonly next: string;
  /** @throws HttpError 422 */
  credentials(): Credentials;
}

/** Reads a form; one that cannot be read leads to `/`. @throws HttpError 413, 408 */
export async function readLoginForm(request: Request): Promise<LoginForm> {
  const fields = await readForm(request);
  return {
    next: nextPath(fields.get("next") ?? null),
    credentials: () => credentialsOf(Object.fromEntries(fields)),
  };
}

/** The login page after a failed form: why, and where a login would lead. */
export function failedLoginPath(error: HttpError, next: string): string {
  return `/login?error=${error.status}` + (next === "/" ? "" : `&next=${encodeURIComponent(next)}`);
}
