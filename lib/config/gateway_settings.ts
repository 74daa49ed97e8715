import type { DomainSettings } from "@/lib/std/store_addresses.ts";

import type { Reading } from "./reading.ts";
import type { TextSource } from "./setting_values.ts";
import type { VariableName } from "./variables.ts";

/** The gateway role's settings. */
export type GatewayConfig = ReturnType<typeof gatewayConfig>;

/** Whose keys sign towards S3. */
type StoreIdentity =
  /** Derived from the caller's user name and password. */
  | { readonly kind: "derived" }
  /** User name and password are the caller's own access key and secret. */
  | { readonly kind: "own" }
  /** One pair for all of these users (null: for all callers). */
  | {
    readonly kind: "shared";
    readonly accessKey: string;
    readonly secretKey: string;
    readonly users: TextSource | null;
  };

/** RFC 7518 §3.2 requires a key as long as the hash. */
const MIN_TOKEN_KEY_BYTES = 32;
const WEAK_DEFAULT_KEY = "change-me-in-production";

const GENERIC_ONLY: readonly VariableName[] = [
  "S3_ACCESS_KEY",
  "S3_SECRET_KEY",
  "S3_VERIFY_SSL",
  "S3_ADDRESSING_STYLE",
  "GATEWAY_USERS_FILE",
  "S3_SHARED_WITHOUT_LOGIN",
  "S3_ALLOW_TRUNCATED_UPLOADS",
];

export function gatewayConfig(reading: Reading) {
  const { settings } = reading;
  const tokenKey = reading.part(() => readTokenKey(reading));
  const store = reading.embedded.store ? null : reading.part(() => storeConfig(reading));
  const hasMapi = store === null || store.backend === "hcp" || settings.HCP_DOMAIN !== undefined ||
    settings.HCP_HOST !== undefined;
  return {
    /** Signs bearer tokens; null: a random key stored in the data folder (embedded store only). */
    tokenKey,
    /** Tokens signed with it are accepted too; null: none. */
    previousTokenKey: reading.part(() => previousTokenKey(reading)),
    tokenFormat: settings.API_TOKEN_FORMAT,
    tokenMinutes: settings.API_TOKEN_EXPIRE_MINUTES,
    /** `*`: any origin without credentials; else these with credentials, so that none means our own pages only. */
    corsOrigins: corsOrigins(reading),
    mapiEnabled: settings.MAPI_ENABLED && hasMapi,
    mapiTimeoutSeconds: settings.HCP_TIMEOUT,
    authType: settings.STORE_AUTH_TYPE,
    /** Unfinished background tasks and unexpired archives: of one user, and of all. */
    maxTasksPerUser: settings.MAX_TASKS_PER_USER,
    maxTasks: settings.MAX_TASKS,
    /** Bytes per second that the fixity tasks of this process read together; null: no limit. */
    fixityRate: settings.FIXITY_RATE === 0 ? null : settings.FIXITY_RATE,
    /** Schedules of fixity checks with their logins; null: none. */
    fixitySchedules: reading.textSource("FIXITY_SCHEDULES_FILE"),
    /** Region in S3 signatures. */
    region: settings.S3_REGION,
    /** The operator's own store; null: the embedded one. */
    store,
  };
}

/** Who knows an accepted key can issue tokens, so the example value is rejected. */
function previousTokenKey(reading: Reading): string | null {
  const key = reading.settings.API_SECRET_KEY_PREVIOUS;
  if (key === undefined) return null;
  if (key === WEAK_DEFAULT_KEY || key === reading.settings.API_SECRET_KEY) {
    reading.refuse(
      "API_SECRET_KEY_PREVIOUS",
      "must be the key before or after API_SECRET_KEY; unset it if there is none",
    );
  }
  warnOfShortKey(reading, "API_SECRET_KEY_PREVIOUS", key);
  return key;
}

function readTokenKey(reading: Reading): string | null {
  const key = reading.settings.API_SECRET_KEY;
  if (key === undefined || key === WEAK_DEFAULT_KEY) {
    if (reading.embedded.store) return null;
    const state = key === undefined ? "is required" : "still has its well-known example value";
    reading.refuse("API_SECRET_KEY", `${state}: set a long random value, such as that of "openssl rand -hex 32"`);
  }
  warnOfShortKey(reading, "API_SECRET_KEY", key);
  return key;
}

function warnOfShortKey(reading: Reading, variable: VariableName, key: string): void {
  if (new TextEncoder().encode(key).length >= MIN_TOKEN_KEY_BYTES) return;
  reading.warn(variable, `shorter than ${MIN_TOKEN_KEY_BYTES} bytes, tokens signed with it can be forged`);
}

function corsOrigins(reading: Reading): "*" | readonly string[] {
  const origins = reading.settings.CORS_ORIGINS ?? (reading.embedded.any ? [] : "*");
  if (origins === "*" && reading.embedded.samples) {
    reading.warn(
      "CORS_ORIGINS",
      "* lets any page in a browser use the embedded parts, whose sample passwords are public",
    );
  }
  return origins;
}

function storeConfig(reading: Reading) {
  const { settings } = reading;
  const backend = settings.STORAGE_BACKEND;
  const isHcp = backend === "hcp";
  if (isHcp) {
    reading.part(() => requireHcpAddresses(reading));
    for (const variable of GENERIC_ONLY) {
      if (reading.isSet(variable)) reading.warn(variable, "ignored, it has no meaning with STORAGE_BACKEND=hcp");
    }
  } else reading.required("S3_ENDPOINT_URL", `set the S3 endpoint of the ${backend} store`);
  const verifyTls = {
    mapi: settings.HCP_VERIFY_SSL,
    s3: isHcp ? settings.HCP_VERIFY_SSL : settings.S3_VERIFY_SSL,
  };
  if (!verifyTls.mapi) reading.warn("HCP_VERIFY_SSL", "false, the store's certificates are not checked");
  if (!verifyTls.s3 && !isHcp) reading.warn("S3_VERIFY_SSL", "false, the store's certificate is not checked");
  const allowsTruncation = !isHcp && settings.S3_ALLOW_TRUNCATED_UPLOADS;
  if (allowsTruncation) {
    reading.warn("S3_ALLOW_TRUNCATED_UPLOADS", "true, an upload that breaks off can become a truncated object");
  }
  const identity: StoreIdentity = isHcp ? { kind: "derived" } : reading.part(() => genericIdentity(reading));
  const addresses: DomainSettings = {
    domain: settings.HCP_DOMAIN ?? null,
    host: settings.HCP_HOST ?? null,
    mapiPort: settings.HCP_PORT,
    s3Endpoint: settings.S3_ENDPOINT_URL ?? null,
    s3PublicEndpoint: settings.S3_PUBLIC_ENDPOINT_URL ?? null,
    virtualHosts: !isHcp && settings.S3_ADDRESSING_STYLE === "virtual",
  };
  return {
    backend,
    addresses,
    identity,
    verifyTls,
    /** Whether uploads may go in one PUT to a store that may store a truncated body. */
    allowsTruncation,
  };
}

function requireHcpAddresses(reading: Reading): void {
  const { HCP_DOMAIN, HCP_HOST, S3_ENDPOINT_URL, MAPI_ENABLED } = reading.settings;
  if (HCP_DOMAIN || ((HCP_HOST || !MAPI_ENABLED) && S3_ENDPOINT_URL)) return;
  reading.refuse(
    "HCP_DOMAIN",
    "is required: set the store's domain (or HCP_HOST and S3_ENDPOINT_URL), " +
      "STORAGE_BACKEND=generic for another S3 store, or EMBEDDED=on for the embedded one",
  );
}

/** Configured keys serve all callers, and the login checks nothing: that must be guarded, or configured on purpose. */
function genericIdentity(reading: Reading): StoreIdentity {
  const { S3_ACCESS_KEY, S3_SECRET_KEY, S3_SHARED_WITHOUT_LOGIN } = reading.settings;
  const users = reading.textSource("GATEWAY_USERS_FILE");
  if (!S3_ACCESS_KEY && !S3_SECRET_KEY) {
    if (users !== null) {
      reading.refuse(
        "GATEWAY_USERS_FILE",
        "guards configured keys: set S3_ACCESS_KEY and S3_SECRET_KEY, or unset it",
      );
    }
    return { kind: "own" };
  }
  reading.bothOrNeither("S3_ACCESS_KEY", "S3_SECRET_KEY");
  if (S3_SHARED_WITHOUT_LOGIN) reading.onlyOne("GATEWAY_USERS_FILE", "S3_SHARED_WITHOUT_LOGIN");
  if (users === null && !S3_SHARED_WITHOUT_LOGIN) {
    reading.refuse(
      "S3_ACCESS_KEY",
      "would serve every client that reaches the gateway: set GATEWAY_USERS_FILE or GATEWAY_USERS " +
        "(lines name:scrypt-hash), " +
        "or S3_SHARED_WITHOUT_LOGIN=true if that is meant",
    );
  }
  if (users === null) {
    reading.warn(
      "S3_SHARED_WITHOUT_LOGIN",
      "true, every client that reaches the gateway has all rights of the shared keys",
    );
  }
  return { kind: "shared", accessKey: S3_ACCESS_KEY ?? "", secretKey: S3_SECRET_KEY ?? "", users };
}
