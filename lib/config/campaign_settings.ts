import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";

import { CONVENTIONS, type Conventions } from "@/lib/campaigns/projection/conventions.ts";
import { DNS_LABEL } from "@/lib/std/text.ts";
import type { Reading } from "./reading.ts";
import type { TextSource } from "./setting_values.ts";

export type WebConfig = ReturnType<typeof webConfig>;
export type ResultsConfig = ReturnType<typeof resultsConfig>;
/** The storage pages of the web role. */
export type StoragePagesConfig = NonNullable<WebConfig["storage"]>;

/** A pod's token, authorities and namespace. */
export const SERVICE_ACCOUNT_FOLDER = "/var/run/secrets/kubernetes.io/serviceaccount";
const IMAGE_STATIC_FOLDER = "/app/static";
const OWN_STATIC_FOLDER = fileURLToPath(new URL("../../static", import.meta.url));
const SESSION_KEY_FILE = "/secrets/session/key";

/** Settings that the campaign roles and the embedded cluster share. */
export function campaignsConfig(reading: Reading) {
  const { CAMPAIGN_CONVENTIONS, CAMPAIGN_NAMESPACES } = reading.settings;
  const conventions: Conventions = CAMPAIGN_CONVENTIONS ?? CONVENTIONS.stackroom;
  return {
    conventions,
    /** At least one; logins of the results role are checked under the first. */
    namespaces: CAMPAIGN_NAMESPACES ?? [podNamespace(reading) ?? conventions.defaultNamespace],
  };
}

/** The web role's settings. */
export function webConfig(reading: Reading) {
  const { settings } = reading;
  const siteOnly = settings.CAMPAIGN_WEB_SITE_ONLY ?? false;
  if (!siteOnly && !reading.roles.has("results")) {
    reading.required("CAMPAIGN_RESULTS_PROXY", "set the results service's base, or play the results role as well");
  }
  const resultsProxy = settings.CAMPAIGN_RESULTS_PROXY ?? null;
  return {
    /** Base of result URLs as browsers reach it; null: `/results` on the request's own origin; "": none, without a cluster. */
    resultsUrl: reading.part(() => resultsUrl(reading, siteOnly)),
    /** The results service's base; null: the results role of this process, or none in a site without a cluster. */
    resultsProxy,
    /** Where progress files are read from; null: through the results role of this process, or nowhere. */
    progressBase: settings.CAMPAIGN_INTERNAL_RESULTS_BASE ?? resultsProxy,
    /** Folder of the site's files; null: API only. */
    staticFolder: staticFolder(reading),
    siteOnly,
    /** Release tag of the deployment. */
    version: settings.CAMPAIGN_BATCH_VERSION,
    /** The path or the text of the kubeconfig; null: the pod's service account, or no cluster of the operator's own. */
    kubeconfig: siteOnly || reading.embedded.cluster ? null : reading.part(() => kubeconfig(reading)),
    /** How long a session of the results lasts. */
    sessionHours: settings.RESULTS_SESSION_HOURS,
    /** Null where there is no gateway that storage pages could work through. */
    storage: reading.part(() => storagePages(reading)),
  };
}

function storagePages(reading: Reading) {
  const { settings, roles, embedded, files } = reading;
  const gatewayUrl = settings.GATEWAY_URL ?? null;
  if (gatewayUrl === null && !roles.has("gateway")) return null;
  const hasOwnKey = embedded.store || (gatewayUrl === null && !roles.has("results"));
  const sessionKey = sessionKeySource(reading, hasOwnKey);
  // The results role reports what is wrong with its own.
  if (!roles.has("results") && sessionKey !== null && "path" in sessionKey && !files.exists(sessionKey.path)) {
    const path = JSON.stringify(sessionKey.path);
    reading.report(
      "RESULTS_SESSION_KEY_FILE",
      `there is no file ${path}, which seals the logins of the storage pages: set the path of a file ` +
        'with the output of "openssl rand -base64 32", the same for every replica, or RESULTS_SESSION_KEY, ' +
        "or unset GATEWAY_URL",
    );
  }
  const endpoint = settings.RESULTS_S3_ENDPOINT;
  return {
    /** The gateway's base, without `/api/v1`; null: the gateway role of this process. */
    gatewayUrl,
    /** The keys that seal logins; null: stored in the data folder, or derived from the gateway's token key. */
    sessionKey,
    sessionHours: settings.RESULTS_SESSION_HOURS,
    /** The tenant of the campaigns; null: what the embedded store says, or none. */
    campaignTenant: settings.RESULTS_TENANT ?? (endpoint === undefined ? null : firstLabel(endpoint)),
  };
}

/** The results role's settings. */
export function resultsConfig(reading: Reading) {
  const { settings, embedded } = reading;
  const store = embedded.store ? null : {
    endpoint: reading.required("RESULTS_S3_ENDPOINT", "set the S3 endpoint that holds the results"),
    bucket: reading.required("RESULTS_S3_BUCKET", "set the bucket that holds the results"),
    verifyTls: settings.RESULTS_S3_VERIFY_TLS,
  };
  if (store && !store.verifyTls) {
    reading.warn("RESULTS_S3_VERIFY_TLS", "false, the results store's certificate is not checked");
  }
  // Other stores than HCP take the keys of a login as they are typed.
  const usual: "hcp" | "none" = settings.STORAGE_BACKEND === "hcp" ? "hcp" : "none";
  return {
    /** Where the results are; null: in the embedded store. */
    store,
    region: settings.S3_REGION,
    keyDerivation: settings.RESULTS_KEY_DERIVATION ?? usual,
    /** The tenant whose prefix a login may carry; null: what the embedded store says, or none. */
    tenant: settings.RESULTS_TENANT ?? (store && firstLabel(store.endpoint)),
    /** Null: stored in the data folder. */
    sessionKey: requiredSessionKey(reading),
    sessionHours: settings.RESULTS_SESSION_HOURS,
    /** Proxies in front of the role that are ours, the pass-through of the web role included. */
    trustedHops: resultsHops(reading),
  };
}

/** Beside the web role, requests come through its pass-through in this process, which no setting has to count. */
function resultsHops({ settings: { TRUSTED_HOPS }, roles }: Reading): number {
  return roles.has("web") ? (TRUSTED_HOPS ?? 0) + 1 : TRUSTED_HOPS ?? 1;
}

/** The session keys of the results role; null: stored in the data folder. */
function requiredSessionKey(reading: Reading): TextSource | null {
  const { embedded, files } = reading;
  const source = sessionKeySource(reading, embedded.store);
  if (source !== null && "path" in source && !files.exists(source.path)) {
    const isGiven = reading.isSet("RESULTS_SESSION_KEY_FILE");
    const state = isGiven ? "there is no file" : "is required, as there is no file";
    const way = isGiven ? "correct the path" : "write the base64 of 32 random bytes there";
    reading.report(
      "RESULTS_SESSION_KEY_FILE",
      `${state} ${JSON.stringify(source.path)}: ${way}, or set the path of a file with the output of ` +
        '"openssl rand -base64 32", or RESULTS_SESSION_KEY',
    );
  }
  return source;
}

/** Where the session keys are: in a file, which may be replaced while the process runs, or in the settings. */
function sessionKeySource({ settings }: Reading, hasOwn: boolean): TextSource | null {
  return settings.RESULTS_SESSION_KEY_FILE ?? (hasOwn ? null : { path: SESSION_KEY_FILE });
}

function podNamespace(reading: Reading): string | undefined {
  const hasCampaigns = reading.roles.has("results") || !reading.settings.CAMPAIGN_WEB_SITE_ONLY;
  if (reading.embedded.cluster || !hasCampaigns) return undefined;
  const name = reading.files.read(`${SERVICE_ACCOUNT_FOLDER}/namespace`)?.trim() ?? "";
  return DNS_LABEL.test(name) ? name : undefined;
}

function resultsUrl(reading: Reading, siteOnly: boolean): string | null {
  if (siteOnly) return "";
  const url = reading.settings.CAMPAIGN_RESULTS_URL;
  if (url !== undefined) return url;
  if (reading.embedded.any) return null;
  return reading.refuse(
    "CAMPAIGN_RESULTS_URL",
    "is required: set the base of result URLs as browsers reach it, such as https://campaigns.example.org/results",
  );
}

/** Null: the pod's service account. */
function kubeconfig(reading: Reading): TextSource | null {
  const { exists } = reading.files;
  const given = reading.settings.KUBECONFIG;
  if (given !== undefined && "text" in given) return given;
  if (given !== undefined) {
    const missing = given.path.split(delimiter).find((path) => path !== "" && !exists(path));
    if (missing !== undefined) {
      reading.report("KUBECONFIG", `there is no file ${JSON.stringify(missing)}; correct the path`);
    }
    return given;
  }
  if (exists(`${SERVICE_ACCOUNT_FOLDER}/token`)) return null;
  const own = reading.home && join(reading.home, ".kube", "config");
  if (own === null || !exists(own)) {
    reading.report(
      "KUBECONFIG",
      "is required: set the path of the cluster's kubeconfig (or KUBECONFIG_CONTENT), run in a pod, set EMBEDDED=on for the embedded cluster, " +
        "or CAMPAIGN_WEB_SITE_ONLY=1 for a site without one",
    );
  }
  return own === null ? null : { path: own };
}

function staticFolder(reading: Reading): string | null {
  const { exists } = reading.files;
  const given = reading.settings.CAMPAIGN_WEB_STATIC;
  if (given !== undefined) return exists(given) ? given : null;
  return exists(IMAGE_STATIC_FOLDER) ? IMAGE_STATIC_FOLDER : OWN_STATIC_FOLDER;
}

/** `archive` of `https://archive.store.example.org`; null for an address or a bare name, which holds no tenant. */
function firstLabel(endpoint: string): string | null {
  const { hostname } = URL.parse(endpoint) ?? { hostname: "" };
  const isAddress = hostname.startsWith("[") || /^[\d.]+$/.test(hostname);
  return isAddress || !hostname.includes(".") ? null : hostname.split(".")[0];
}
