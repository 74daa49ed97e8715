import { DEFAULT_CONNECTION_LIMITS, maxPerAddress } from "@/lib/process/connections.ts";
import type { Reading } from "./reading.ts";
import { bindAddress, canonicalHost, isLoopback, isWildcard, LOOPBACK_NAMES } from "./setting_values.ts";
import type { VariableName } from "./variables.ts";

/** Address, port and the Host names that are accepted: with an embedded part, only our own. */
export function serverConfig(reading: Reading) {
  const { settings: { HOST, PORT, STOP_DELAY, CAMPAIGN_RESULTS_URL }, embedded } = reading;
  const certificate = reading.part(() => certificatePaths(reading));
  const host = HOST ?? (embedded.any ? "127.0.0.1" : "0.0.0.0");
  if (!certificate && !isLoopback(host) && !reading.isSet("TRUSTED_HOPS") && proxiesInFront(reading) === 0) {
    reading.warn(
      "HOST",
      `${host} is served without TLS, so passwords can be read on their way: set TLS_CERT_FILE and TLS_KEY_FILE, ` +
        "or TRUSTED_HOPS where a proxy with TLS is in front",
    );
  }
  return {
    /** The address to listen on: a name, an IPv4 address or an IPv6 address without brackets. */
    host: bindAddress(host),
    /** 0: any free port. */
    port: PORT,
    /** Where metrics are served; null: nowhere. */
    metrics: metricsAddress(reading),
    /** Host names (as in a URL, without port) that are accepted; null: all. Others are 421. */
    allowedHosts: embedded.any ? ownNames(reading, host) : null,
    connections: connectionLimits(reading),
    /** How long it goes on serving after the signal to stop, ms. */
    stopDelayMs: STOP_DELAY * 1000,
    /** The origin that browsers use, where the settings say; null: one of the host names at the port. */
    publicOrigin: CAMPAIGN_RESULTS_URL === undefined ? null : new URL(CAMPAIGN_RESULTS_URL).origin,
    /** Serves HTTPS with the certificate in these files; null: plain HTTP. */
    certificate,
  };
}

/** The names of a process with an embedded part: those of this machine, and the one that the settings name. */
function ownNames(reading: Reading, host: string): string[] {
  const { CAMPAIGN_RESULTS_URL } = reading.settings;
  if (isWildcard(host) && !CAMPAIGN_RESULTS_URL) {
    reading.refuse(
      "CAMPAIGN_RESULTS_URL",
      "is required where HOST is every interface and something is embedded: set the address that browsers use, " +
        "such as http://localhost:8000/results, or leave HOST at 127.0.0.1",
    );
  }
  if (reading.embedded.samples) {
    const publicName = nameBeyondLoopback(reading);
    const warn = (variable: VariableName, name: string) =>
      reading.warn(variable, `${name} lets others reach the embedded parts, whose sample passwords are public`);
    if (!isLoopback(host)) warn("HOST", host);
    else if (publicName !== null) warn("CAMPAIGN_RESULTS_URL", publicName);
  }
  const names = new Set(LOOPBACK_NAMES);
  if (!isWildcard(host)) names.add(host);
  if (CAMPAIGN_RESULTS_URL) names.add(new URL(CAMPAIGN_RESULTS_URL).hostname);
  return [...names];
}

/** On loopback only the names of this machine are accepted: other names come from pages that attack through a browser. */
function metricsAddress(reading: Reading) {
  const { METRICS_HOST: host, METRICS_PORT: port, PORT } = reading.settings;
  if (port === undefined) return null;
  if (port !== 0 && port === PORT) {
    reading.report("METRICS_PORT", "must differ from PORT: metrics are for the operator alone");
  }
  return {
    /** The address to listen on; IPv6 without brackets. */
    host: bindAddress(host),
    /** 0: any free port. */
    port,
    /** Host names that are accepted; null: all. */
    allowedHosts: isLoopback(host) ? [...LOOPBACK_NAMES, host] : null,
  };
}

/** The host name of the site, where browsers elsewhere may use it; null: it is one of this machine, or is not set. */
function nameBeyondLoopback({ settings: { CAMPAIGN_RESULTS_URL } }: Reading): string | null {
  const name = CAMPAIGN_RESULTS_URL === undefined ? null : new URL(CAMPAIGN_RESULTS_URL).hostname;
  return name === null || isLoopback(name) ? null : name;
}

/** The files of the server's certificate; one of them alone is an error. */
function certificatePaths(reading: Reading) {
  const certFile = reading.certificateFile("TLS_CERT_FILE", reading.settings.TLS_CERT_FILE);
  const keyFile = reading.existingFile("TLS_KEY_FILE", reading.settings.TLS_KEY_FILE);
  reading.bothOrNeither("TLS_CERT_FILE", "TLS_KEY_FILE");
  return certFile === null || keyFile === null ? null : { certFile, keyFile };
}

/** Our proxies in front; without the web role beside it, a web role elsewhere calls the results role for all its readers. */
function proxiesInFront({ settings, roles }: Reading): number {
  return settings.TRUSTED_HOPS ?? (roles.has("results") && !roles.has("web") ? 1 : 0);
}

/** Behind a proxy, the web role's pass-through included, all peers may be one address: only its own limit can tell them apart. */
function connectionLimits(reading: Reading) {
  const { settings } = reading;
  return {
    max: settings.MAX_CONNECTIONS,
    maxPerAddress: proxiesInFront(reading) > 0 ? null : maxPerAddress(settings.MAX_REQUESTS),
    headMs: DEFAULT_CONNECTION_LIMITS.headMs,
    idleMs: settings.KEEP_ALIVE_TIMEOUT * 1000,
  };
}

/** The server that the replicas of these roles share; null without one, and in other roles. */
export function redisUrl({ settings: { REDIS_URL, GATEWAY_URL }, roles }: Reading): string | null {
  const hasStoragePages = roles.has("web") && GATEWAY_URL !== undefined;
  return roles.has("gateway") || roles.has("results") || hasStoragePages ? REDIS_URL ?? null : null;
}

/** Warns if the password of the Redis server is sent without TLS. */
export function warnOfPlainRedis(reading: Reading): void {
  const { protocol, hostname } = new URL(reading.settings.REDIS_URL ?? "rediss://none");
  if (protocol === "redis:" && !isLoopback(canonicalHost(hostname) ?? hostname)) {
    reading.warn("REDIS_URL", "redis:// leaves this machine without TLS, so its password can be read: use rediss://");
  }
}

/** The embedded parts, and where they listen. A store or cluster of the operator's own is not used beside it. */
export function embeddedConfig(reading: Reading) {
  const { store, cluster, samples } = reading.embedded;
  const host = reading.settings.EMBEDDED_HOST;
  if (isWildcard(host)) {
    reading.refuse("EMBEDDED_HOST", "is shown in addresses, so it must be one that clients can reach, not a wildcard");
  }
  if ((store || cluster) && !isLoopback(host)) {
    reading.warn(
      "EMBEDDED_HOST",
      samples
        ? `${host} lets others reach the embedded servers, whose sample passwords are public`
        : `${host} is served without TLS: let nothing but a proxy with TLS reach the ports of the store`,
    );
  }
  if (cluster && reading.isSet("KUBECONFIG")) {
    reading.warn("KUBECONFIG", "ignored, the embedded cluster is on; set EMBEDDED=store or off to use your own");
  }
  return {
    store,
    cluster,
    /** The address that the embedded servers listen on and show; IPv6 without brackets. */
    host: bindAddress(host),
    /** The first accounts of a store without samples; null: the samples, or no store. */
    administrators: reading.part(() => administrators(reading)),
    /** The origin of a tenant's S3 in presigned URLs, with `{tenant}` for its name; null: the embedded server's own. */
    publicEndpoint: reading.part(() => embeddedPublicEndpoint(reading)),
  };
}

/** The accounts of a store without samples; null where there are samples, or nothing is embedded. */
function administrators(reading: Reading) {
  const { settings, embedded: { store, cluster, samples, any } } = reading;
  if (samples || !any) {
    for (const variable of WITHOUT_SAMPLES) {
      if (samples && reading.isSet(variable)) {
        reading.report(variable, "has no meaning beside samples: set EMBEDDED_SAMPLES=off");
      }
    }
    return null;
  }
  if (cluster || !store) {
    reading.refuse(
      "EMBEDDED_SAMPLES",
      "off is for an embedded store in real use, and the embedded cluster only plays campaigns: set EMBEDDED=store",
    );
  }
  const { EMBEDDED_TENANT: name, EMBEDDED_HOST, HOST = "127.0.0.1", S3_PUBLIC_ENDPOINT_URL } = settings;
  if (name === undefined && reading.isSet("EMBEDDED_TENANT_PASSWORD_FILE")) {
    reading.refuse("EMBEDDED_TENANT_PASSWORD_FILE", "is of the tenant of EMBEDDED_TENANT: set both or neither");
  }
  const passwordFile = (variable: typeof WITHOUT_SAMPLES[number]) => ({ variable, path: settings[variable] ?? null });
  return {
    /** The account of the system level. */
    system: passwordFile("EMBEDDED_ADMIN_PASSWORD_FILE"),
    /** A tenant that is to exist, and its administrator; null: none. */
    tenant: name === undefined ? null : { name, password: passwordFile("EMBEDDED_TENANT_PASSWORD_FILE") },
    /** Whether clients beyond this machine reach the store, directly or through a proxy. */
    isPublic: !isLoopback(HOST) || !isLoopback(EMBEDDED_HOST) || S3_PUBLIC_ENDPOINT_URL !== undefined ||
      nameBeyondLoopback(reading) !== null || proxiesInFront(reading) > 0,
  };
}

/** Settings of a store without samples. */
const WITHOUT_SAMPLES = ["EMBEDDED_ADMIN_PASSWORD_FILE", "EMBEDDED_TENANT", "EMBEDDED_TENANT_PASSWORD_FILE"] as const;

function embeddedPublicEndpoint(reading: Reading): string | null {
  const template = reading.settings.S3_PUBLIC_ENDPOINT_URL;
  if (!reading.embedded.store || reading.embedded.samples || template === undefined) return null;
  const { hostname } = new URL(template.replaceAll("{tenant}", TENANT_STAND_IN));
  if (template.split("{tenant}").length !== 2 || !hostname.includes(TENANT_STAND_IN)) {
    reading.refuse(
      "S3_PUBLIC_ENDPOINT_URL",
      "must have {tenant} in its host name once, such as https://{tenant}.s3.example.org: each tenant has an endpoint",
    );
  }
  return template;
}

const TENANT_STAND_IN = "tenant-stand-in";
