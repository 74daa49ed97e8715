import { browserScheme, type Scheme } from "@/lib/results/browser_origin.ts";
import { clearedCookie, sessionCookie, sessionValues } from "@/lib/results/session_cookie.ts";

const STEM = "login_sides";
/** How long a browser remembers it, seconds: longer than a session. */
const MAX_AGE_SECONDS = 24 * 3600;
const VALUE = /^(campaigns|storage)\.(tenant|[1-5]\d\d)\.(new|shown)$/;

/** The side that stayed closed, as a browser remembers it. */
interface NotedSide {
  readonly side: "campaigns" | "storage";
  /** The status with which it refused the login; `tenant`: the tenant of the name is not known. */
  readonly reason: number | "tenant";
  /** Whether a page has said it. */
  readonly isShown: boolean;
}

/**
 * The `Set-Cookie` value that notes which side of the site a login did not open, so that the next page says it once and
 * the closed side says it until it is open. It holds no name and decides nothing.
 *
 * @param closed null removes the note
 */
export function closedSideCookie(scheme: Scheme, closed: NotedSide | null): string {
  if (closed === null) return clearedCookie(scheme, STEM);
  const { side, reason, isShown } = closed;
  return sessionCookie(scheme, STEM, `${side}.${reason}.${isShown ? "shown" : "new"}`, MAX_AGE_SECONDS);
}

/** Lets a page that says which side is closed be the only one that says it, but for those of that side. */
export function rememberShown(
  response: Response,
  request: Pick<Request, "url" | "headers">,
  noted: NotedSide | null,
): Response {
  if (noted !== null && !noted.isShown) {
    response.headers.append("Set-Cookie", closedSideCookie(browserScheme(request), { ...noted, isShown: true }));
  }
  return response;
}

/** The side that the last login of a browser did not open; null where it opened both, or none. */
export function notedClosedSide(request: Pick<Request, "url" | "headers">): NotedSide | null {
  for (const value of sessionValues(request, STEM)) {
    const [, side, reason, state] = VALUE.exec(value) ?? [];
    if (side !== "campaigns" && side !== "storage") continue;
    return { side, reason: reason === "tenant" ? reason : Number(reason), isShown: state === "shown" };
  }
  return null;
}
