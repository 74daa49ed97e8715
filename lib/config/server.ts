import type { CertificatePaths } from "@/lib/process/certificate_files.ts";
import type { ConnectionLimits } from "@/lib/process/connections.ts";
import { bindAddress, canonicalHost, isLoopback, isWildcard, LOOPBACK_NAMES } from "./hosts.ts";
import type { Reading } from "./reading.ts";

export interface ServerConfig {
  /** What to bind: a name, an IPv4 address or an IPv6 address without brackets. */
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Host names (as in a URL, without port) that are accepted; null: all. Others are 421. */
  readonly allowedHosts: readonly string[] | null;
  readonly connections: ConnectionLimits;
  /** Serves HTTPS with the certificate in these files; null: plain HTTP. */
  readonly certificate: CertificatePaths | null;
}

export interface EmbeddedConfig {
  readonly store: boolean;
  readonly cluster: boolean;
  /** What the embedded servers bind and show; IPv6 without brackets. */
  readonly host: string;
}

/** Address, port and the Host names that are accepted: with known sample passwords inside, only our own. */
export function serverConfig(reading: Reading): ServerConfig {
  const { HOST, PORT, CAMPAIGN_RESULTS_URL } = reading.settings;
  const connections = connectionLimits(reading);
  const certificate = reading.part(() => certificatePaths(reading));
  const host = HOST ?? (reading.embedded.any ? "127.0.0.1" : "0.0.0.0");
  if (!certificate && !isLoopback(host) && !reading.isSet("TRUSTED_HOPS") && proxiesInFront(reading) === 0) {
    reading.warn(
      "HOST",
      `${host} is served without TLS, so passwords can be read on their way: set TLS_CERT_FILE and TLS_KEY_FILE, ` +
        "or TRUSTED_HOPS where a proxy with TLS is in front",
    );
  }
  if (!reading.embedded.any) {
    return { host: bindAddress(host), port: PORT, allowedHosts: null, connections, certificate };
  }
  if (isWildcard(host) && !CAMPAIGN_RESULTS_URL) {
    reading.refuse(
      "CAMPAIGN_RESULTS_URL",
      "is required where HOST is every interface and something is embedded: set the address that browsers use, " +
        "such as http://localhost:8000/results, or leave HOST at 127.0.0.1",
    );
  }
  if (!isLoopback(host)) {
    reading.warn("HOST", `${host} lets others reach the embedded parts, whose sample passwords are public`);
  }
  const names = new Set(LOOPBACK_NAMES);
  if (!isWildcard(host)) names.add(host);
  if (CAMPAIGN_RESULTS_URL) names.add(new URL(CAMPAIGN_RESULTS_URL).hostname);
  return { host: bindAddress(host), port: PORT, allowedHosts: [...names], connections, certificate };
}

/** The files of the server's certificate; one of them alone is an error. */
function certificatePaths(reading: Reading): CertificatePaths | null {
  const certFile = reading.certificateFile("TLS_CERT_FILE");
  const keyFile = reading.existingFile("TLS_KEY_FILE");
  if (certFile !== null && keyFile === null) {
    reading.refuse("TLS_KEY_FILE", "is required: TLS_CERT_FILE is set; set both or neither");
  }
  if (certFile === null && keyFile !== null) {
    reading.refuse("TLS_CERT_FILE", "is required: TLS_KEY_FILE is set; set both or neither");
  }
  return certFile === null || keyFile === null ? null : { certFile, keyFile };
}

/** Our proxies in front; without the web role beside it, a web role elsewhere calls the results role for all its readers. */
function proxiesInFront({ settings, roles }: Reading): number {
  return settings.TRUSTED_HOPS ?? (roles.has("results") && !roles.has("web") ? 1 : 0);
}

/** Behind a proxy, the web role's pass-through included, all peers may be one address: only its own limit can tell them apart. */
function connectionLimits(reading: Reading): ConnectionLimits {
  const { settings } = reading;
  return {
    max: settings.MAX_CONNECTIONS,
    maxPerAddress: proxiesInFront(reading) > 0 ? null : settings.MAX_CONNECTIONS_PER_ADDRESS,
    headMs: settings.HEAD_TIMEOUT * 1000,
    idleMs: settings.KEEP_ALIVE_TIMEOUT * 1000,
  };
}

/** The server that the replicas of these roles share; null without one, and in other roles. */
export function redisUrl(reading: Reading): string | null {
  const { settings: { REDIS_URL: url, GATEWAY_URL }, roles } = reading;
  const hasStoragePages = roles.has("web") && GATEWAY_URL !== undefined;
  if (url === undefined || !(roles.has("gateway") || roles.has("results") || hasStoragePages)) return null;
  const { protocol, hostname } = new URL(url);
  if (protocol === "redis:" && !isLoopback(canonicalHost(hostname) ?? hostname)) {
    reading.warn("REDIS_URL", "redis:// leaves this machine without TLS, so its password can be read: use rediss://");
  }
  return url;
}

/** What is embedded, and where it listens. A store or cluster of the operator's own is not used beside it. */
export function embeddedConfig(reading: Reading): EmbeddedConfig {
  const { store, cluster } = reading.embedded;
  const host = reading.settings.EMBEDDED_HOST;
  if (isWildcard(host)) {
    reading.refuse("EMBEDDED_HOST", "is shown in addresses, so it must be one that clients can reach, not a wildcard");
  }
  if ((store || cluster) && !isLoopback(host)) {
    reading.warn("EMBEDDED_HOST", `${host} lets others reach the embedded servers, whose sample passwords are public`);
  }
  for (const variable of ["KUBECONFIG", "KUBECONFIG_CONTENT"] as const) {
    if (!cluster || !reading.isSet(variable)) continue;
    reading.warn(variable, "ignored, the embedded cluster is on; set EMBEDDED=store or off to use your own");
  }
  return { store, cluster, host: bindAddress(host) };
}
