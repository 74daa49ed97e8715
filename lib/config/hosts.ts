const WILDCARDS = new Set(["0.0.0.0", "[::]", "[::ffff:0:0]"]);
const NAME_OR_ADDRESS = /^(?:[A-Za-z0-9._-]+|\[?[0-9A-Fa-f:.]+\]?)$/;

/** The names under which a browser on the same machine reaches it, as a URL spells them. */
export const LOOPBACK_NAMES: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/**
 * A host name or address as a URL spells it (lower case, IPv6 in brackets, `0` as `0.0.0.0`), or undefined.
 * One spelling per host, so that a wildcard cannot hide behind another one.
 */
export function canonicalHost(text: string): string | undefined {
  if (!NAME_OR_ADDRESS.test(text)) return undefined;
  const host = text.includes(":") && !text.startsWith("[") ? `[${text}]` : text;
  return URL.parse(`http://${host}/`)?.hostname;
}

/** Whether a canonical host means every interface of the machine. */
export function isWildcard(host: string): boolean {
  return WILDCARDS.has(host);
}

/** Whether a canonical host is reached from this machine only. */
export function isLoopback(host: string): boolean {
  return LOOPBACK_NAMES.includes(host) || /^127\.\d+\.\d+\.\d+$/.test(host) || host.endsWith(".localhost");
}

/** The form that sockets take: a canonical host without the brackets of an IPv6 address. */
export function bindAddress(host: string): string {
  return host.replace(/^\[(.*)\]$/, "$1");
}
