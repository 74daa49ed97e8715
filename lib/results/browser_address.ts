/** How the browser reached the site. */
export type Scheme = "http" | "https";

type Addressed = Pick<Request, "url" | "headers">;

/** The scheme in the browser's address bar: what the proxies before us say, else that of the request itself. */
export function browserScheme({ url, headers }: Addressed): Scheme {
  const forwarded = firstOf(headers.get("X-Forwarded-Proto"))?.toLowerCase();
  if (forwarded === "http" || forwarded === "https") return forwarded;
  return url.startsWith("https:") ? "https" : "http";
}

/** The host and port in the browser's address bar, likewise; null when they are no host name. */
export function browserHost({ url, headers }: Addressed): string | null {
  const host = firstOf(headers.get("X-Forwarded-Host")) ?? headers.get("Host") ?? URL.parse(url)?.host ?? "";
  return /^[\w.:[\]-]+$/.test(host) ? host : null;
}

/** Where several proxies wrote a list, the first entry is the one that met the browser. */
function firstOf(list: string | null): string | null {
  return list?.split(",", 1)[0].trim() || null;
}
