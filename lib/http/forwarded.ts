type Sent = Pick<Request, "headers">;

/** How many of our own proxies a request came through; no entry for none. */
const proxies = new WeakMap<Sent, number>();

/** Says how many of our own proxies a request came through: only what they wrote counts. */
export function trustProxies(request: Sent, count: number): void {
  if (count > 0) proxies.set(request, count);
}

/** Lets the forwarded headers count for a copy of a request as they do for the request. */
export function trustCopy(copy: Sent, request: Sent): void {
  trustProxies(copy, proxies.get(request) ?? 0);
}

/**
 * What the outermost of our own proxies said of the browser's address: of a list its entry, or the first where proxies
 * write the header anew. Null where no proxy is ours, since any client may send such a header.
 */
export function forwarded(request: Sent, name: "X-Forwarded-Host" | "X-Forwarded-Proto"): string | null {
  const count = proxies.get(request);
  const entries = count === undefined ? undefined : request.headers.get(name)?.split(",");
  return (entries?.at(-(count ?? 1)) ?? entries?.[0])?.trim() || null;
}
