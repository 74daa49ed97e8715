import { isIPv4, isIPv6 } from "node:net";

/** The key of an unknown address, such as that of a request without a network. */
const UNKNOWN = "unknown";

/**
 * The address of the client that a request came from: in `X-Forwarded-For` the entry that the outermost of our own
 * proxies wrote, else the peer's. A list that is shorter, or an entry that is no address, was not written by our
 * proxies: then the peer counts. IPv4 addresses that are written as IPv6 become IPv4.
 *
 * @param trustedHops how many proxies in front of this role are ours; 0 ignores the header, since any client may send one
 */
export function clientAddress(forwardedFor: string | null, peer: string | null, trustedHops: number): string | null {
  const entry = trustedHops > 0 ? forwardedFor?.split(",").at(-trustedHops) : undefined;
  return (entry === undefined ? null : readAddress(entry.trim())) ?? (peer === null ? null : readAddress(peer));
}

/**
 * The key under which an address is counted: IPv4 addresses separately, IPv6 by /64, the smallest network of a customer
 * (RFC 6177), so that all addresses of a client share one count.
 */
export function addressKey(address: string | null): string {
  if (address === null) return UNKNOWN;
  if (!address.includes(":")) return address;
  const groups = ipv6Groups(address);
  return groups.slice(0, 4).map((group) => group.toString(16)).join(":") + "::/64";
}

/** The peer's address, an IPv4 one as such however it is written; null where the connection has none. */
export function peerAddress(info: { readonly remoteAddr?: Deno.Addr } | undefined): string | null {
  const address = info?.remoteAddr;
  return address && "hostname" in address ? readAddress(address.hostname) ?? address.hostname : null;
}

/** An address without port, brackets and zone, as proxies write them; null for anything else. */
function readAddress(text: string): string | null {
  if (isIPv4(text)) return text;
  const bare = text.replace(/^\[(.*)\](?::\d+)?$/, "$1").replace(/%.*$/, "").toLowerCase();
  if (isIPv6(bare)) return mappedIPv4(ipv6Groups(bare)) ?? bare;
  const [host, port, ...rest] = text.split(":");
  return port !== undefined && rest.length === 0 && isIPv4(host) ? host : null;
}

/** The IPv4 address in an IPv6 one of the form `::ffff:a.b.c.d` (RFC 4291, section 2.5.5.2). */
function mappedIPv4(groups: readonly number[]): string | null {
  if (groups[5] !== 0xffff || groups.slice(0, 5).some((group) => group !== 0)) return null;
  return groups.slice(6).flatMap((group) => [group >> 8, group & 0xff]).join(".");
}

/** The eight groups of an IPv6 address in any of its spellings. */
function ipv6Groups(address: string): number[] {
  const [head, tail] = address.split("::");
  const left = groupsOf(head);
  const right = tail === undefined ? [] : groupsOf(tail);
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
}

function groupsOf(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((part) => {
    if (!part.includes(".")) return [parseInt(part, 16)];
    const [a, b, c, d] = part.split(".").map(Number);
    return [a << 8 | b, c << 8 | d];
  });
}

type Sent = Pick<Request, "headers">;

/** How many of our own proxies a request came through; no entry for none. */
const proxies = new WeakMap<Sent, number>();

/** Sets how many of our own proxies a request came through: only their headers count. */
export function trustProxies(request: Sent, count: number): void {
  if (count > 0) proxies.set(request, count);
}

/** Trusts the forwarded headers of a copy like those of the request. */
export function trustCopy(copy: Sent, request: Sent): void {
  trustProxies(copy, proxies.get(request) ?? 0);
}

/**
 * The host or scheme of the browser's address, as the outermost of our own proxies wrote it. In a list that is the entry
 * of this proxy, or the first one where a later proxy wrote the header anew. Null where no proxy is ours, since any
 * client may send such a header.
 */
export function forwarded(request: Sent, name: "X-Forwarded-Host" | "X-Forwarded-Proto"): string | null {
  const count = proxies.get(request);
  const entries = count === undefined ? undefined : request.headers.get(name)?.split(",");
  return (entries?.at(-(count ?? 1)) ?? entries?.[0])?.trim() || null;
}
