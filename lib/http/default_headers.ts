/** Keeps an answer out of the frames of other pages (CSP Level 3, frame-ancestors). */
export const UNFRAMED_POLICY = "frame-ancestors 'none'";

/** The policy of content that is not ours to trust: a document may do nothing, and no page may frame it. */
export const SANDBOX_POLICY = `default-src 'none'; sandbox; ${UNFRAMED_POLICY}`;

const DEFAULT_HEADERS: Readonly<Record<string, string>> = {
  "Content-Security-Policy": UNFRAMED_POLICY,
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "strict-origin-when-cross-origin",
};

/**
 * Adds the headers that every answer of every role carries, unless it has its own. A policy of its own that says nothing
 * of frames, such as one that came from another service, gets a second one beside it: browsers enforce both.
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
