/** From where an address can be reached: this machine, its own network, or anywhere. */
export type Reach = "machine" | "network" | "anywhere";

/** Endings of names that are resolved in a network of its own (RFC 6762, RFC 8375, RFC 9476, and common use). */
const OWN_NAMES = /\.(?:local|lan|home|intranet|internal|corp|home\.arpa|test|localdomain)$/;

/** How far a link can be opened, by the host in its address. A name may still be known in one network only. */
export function reachOf(url: string): Reach {
  const host = new URL(url).hostname.toLowerCase().replace(/^\[|\]$/g, "").replace(/\.$/, "");
  if (host === "localhost" || host.endsWith(".localhost")) return "machine";
  const version4 = /^(?:::ffff:)?(\d+)\.(\d+)\.\d+\.\d+$/.exec(host) ?? mapped(host);
  if (version4) return reachOfVersion4(Number(version4[1]), Number(version4[2]));
  if (host.includes(":")) return reachOfVersion6(host);
  return !host.includes(".") || OWN_NAMES.test(host) ? "network" : "anywhere";
}

/** Blocks of the IANA registry of special-purpose addresses. */
function reachOfVersion4(first: number, second: number): Reach {
  if (first === 127 || first === 0) return "machine";
  const isPrivate = first === 10 || (first === 192 && second === 168) || (first === 172 && second >> 4 === 1) ||
    (first === 169 && second === 254) || (first === 100 && second >> 6 === 1);
  return isPrivate ? "network" : "anywhere";
}

function reachOfVersion6(host: string): Reach {
  if (host === "::1" || host === "::") return "machine";
  return /^(?:f[cd]|fe[89ab])/.test(host) ? "network" : "anywhere";
}

/** An address of version 4 within one of version 6, as URLs write it: `::ffff:7f00:1`. */
function mapped(host: string): [string, string, string] | null {
  const parts = /^::ffff:([0-9a-f]{1,4}):[0-9a-f]{1,4}$/.exec(host);
  if (!parts) return null;
  const high = parseInt(parts[1], 16);
  return [host, String(high >> 8), String(high & 255)];
}
