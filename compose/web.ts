import { createHash } from "node:crypto";
import project from "@/deno.json" with { type: "json" };
import { SAMPLE_LOGINS, SAMPLE_PASSWORD, SAMPLE_VISITOR } from "@/embedded/store/server/sample_data.ts";
import { givenSessionKeys, ownResultsUrl, type SessionKeys } from "@/lib/auth/session_token.ts";
import { remoteGateway } from "@/lib/auth/gateway_service.ts";
import type { RevokedSessions } from "@/lib/auth/revoked_sessions.ts";
import { Tallies } from "@/lib/campaigns/progress/progress_cache.ts";
import { progressReader, type ResultsFetch } from "@/lib/campaigns/progress/progress_reader.ts";
import { CampaignLists } from "@/lib/campaigns/reader/campaign_list.ts";
import { CampaignRecords, recordWriter } from "@/lib/campaigns/records/campaign_records.ts";
import { ClusterCampaigns } from "@/lib/campaigns/source/campaign_source.ts";
import { type Config, ConfigError, type StoragePagesConfig, type WebConfig } from "@/lib/config/mod.ts";
import type { RequestLog } from "@/lib/http/app.ts";
import { clusterConnection } from "@/lib/kubernetes/cluster_address.ts";
import type { DataFolder } from "@/lib/process/data_folder.ts";
import {
  IN_PROCESS_BASE,
  remoteResults,
  remoteResultsFetch,
  resultsFetch,
  type ResultsService,
} from "@/lib/results/results_service.ts";
import { sessionCheck } from "@/lib/results/session_check.ts";
import { type Assets, builtAssets } from "@/lib/site/site.ts";
import type { StorageSettings } from "@/lib/site/storage/logins.ts";
import type { CampaignDeps, SiteFiles, WebDeps } from "@/routes/web.ts";
import type { SignedSet } from "@/lib/state/signed_set.ts";
import { tokenSecrets } from "./gateway.ts";
import { embeddedResultsTenant, revokedSessions, sessionKeys } from "./results.ts";
import type { ClusterHandle } from "./sample_cluster.ts";
import { caCertificates, type ObserveUpstream, upstream } from "./shared.ts";

/** Until the response headers of the results service, ms. */
const RESULTS_TIMEOUT_MS = 60_000;
/** Until the response headers of the gateway, ms: it may itself wait a minute for the store. */
const GATEWAY_TIMEOUT_MS = 90_000;
const MS_PER_HOUR = 3_600_000;

/** Said where an account has the rights to list alone, and when it gets the others. */
const LISTED_INSTEAD = "The cluster's account may not watch: its campaigns are listed for every request.";
const FOLLOWED_AGAIN = "The cluster's account may watch now: its campaigns are followed.";

/** The accounts of the embedded store, as the login page shows them. */
function embeddedLogins(config: Config): Pick<WebDeps, "sampleLogins" | "campaignTenant"> {
  const samples = { logins: SAMPLE_LOGINS, password: SAMPLE_PASSWORD, visitor: SAMPLE_VISITOR };
  const campaignTenant = embeddedResultsTenant(config);
  return config.embedded.administrators ? { campaignTenant } : { sampleLogins: samples, campaignTenant };
}

interface WebParts {
  /** The results role of this process; null when it plays none. */
  readonly results: ResultsService | null;
  readonly cluster: ClusterHandle | null;
  /** Whether the results role of this process reads the embedded store. */
  readonly hasStore: boolean;
  readonly folder: DataFolder | null;
  /** The revoked sessions of this process's results role; null when it plays none. */
  readonly revoked: RevokedSessions | null;
  /** The revoked sessions of all replicas; null: of this one alone. */
  readonly shared: SignedSet | null;
  /** The site as built for development; null: that of the last build. */
  readonly devAssets: Assets | null;
  readonly log: RequestLog;
  readonly observe: ObserveUpstream;
}

/** The dependencies of the web role, and the end of what follows the cluster. Throws ConfigError and BuildError. */
export async function webRole(config: Config, web: WebConfig, parts: WebParts) {
  const { resultsUrl } = web;
  const observed = parts.observe("results");
  const client = () => upstream(config, true, RESULTS_TIMEOUT_MS, observed);
  const service = web.resultsProxy === null ? parts.results : remoteResults(web.resultsProxy, client());
  const inProcess = parts.results && resultsFetch(parts.results);
  const progress = web.progressBase === null ? inProcess : remoteResultsFetch(web.progressBase, client());
  const site = siteFiles(web, parts.devAssets);
  const campaigns = web.siteOnly ? null : await campaignRole(config, web, parts, service, progress);
  const deps: WebDeps = {
    storage: web.storage && storageSettings(
      config,
      web.storage,
      parts.folder,
      parts.revoked ?? revokedSessions(parts.folder, parts.log, parts.shared),
      parts.observe,
    ),
    service,
    campaigns: campaigns?.deps ?? null,
    resultsUrl: resultsUrl === null ? ownResultsUrl : () => resultsUrl,
    cookieStem: config.campaigns.conventions.cookieStem,
    version: web.version,
    webVersion: project.version,
    site,
    ...(parts.hasStore && service !== null && service === parts.results && embeddedLogins(config)),
    log: parts.log,
    now: Date.now,
  };
  return { deps, close: async () => await campaigns?.close() };
}

async function campaignRole(
  config: Config,
  web: WebConfig,
  { cluster, log, observe }: WebParts,
  service: ResultsService | null,
  progress: ResultsFetch | null,
) {
  if (!service || !progress) {
    throw new ConfigError("CAMPAIGN_RESULTS_PROXY", "is required: set the results service's base, ending in /results");
  }
  const { conventions, namespaces } = config.campaigns;
  const now = Date.now;
  const connection = await clusterConnection(cluster ?? web.kubeconfig, {
    now,
    caCerts: caCertificates(config),
    ...observe("kubernetes"),
  });
  // Sites without a fixed address have as many results URLs as names they are called by.
  const { resultsUrl } = web;
  const writer = recordWriter({ connection, conventions, resultsUrl });
  const records = new CampaignRecords({ writer, resultsUrl, log, now });
  const source = new ClusterCampaigns({
    connection,
    conventions,
    namespaces,
    now,
    random: Math.random,
    log,
    watchRefused: () => console.error(LISTED_INSTEAD),
    watchAllowed: () => console.error(FOLLOWED_AGAIN),
  });
  const sessionMs = web.sessionHours * MS_PER_HOUR;
  const sessions = sessionCheck({ service, cookieStem: conventions.cookieStem, now });
  const deps: CampaignDeps = {
    source,
    lists: new CampaignLists(source, records),
    progress: progressReader({ send: progress, base: IN_PROCESS_BASE, now, sessionMs }),
    tallies: new Tallies(now, sessionMs),
    records,
    namespaces,
    session: sessions.check,
    forgetSessions: sessions.forget,
    reachable: () => source.ready(),
  };
  return { deps, close: () => source.close() };
}

function siteFiles({ staticFolder }: WebConfig, devAssets: Assets | null): SiteFiles | null {
  return staticFolder === null ? null : { staticFolder, assets: devAssets ?? builtAssets() };
}

/**
 * The dependencies of the storage pages. Throws SessionKeyError.
 *
 * @param revoked logins that ended before their time: among the revoked sessions of the results role, where there is one
 */
function storageSettings(
  config: Config,
  storage: StoragePagesConfig,
  folder: DataFolder | null,
  revoked: RevokedSessions,
  observe: ObserveUpstream,
): StorageSettings {
  const { gatewayUrl, sessionHours, campaignTenant } = storage;
  return {
    gateway: gatewayUrl === null ? null : remoteGateway(
      gatewayUrl,
      upstream(config, true, GATEWAY_TIMEOUT_MS, observe("gateway")),
      config.trustedHops,
    ),
    secrets: storageSecrets(config, storage, folder),
    revoked,
    sessionHours,
    campaignTenant: campaignTenant ?? (config.embedded.store ? embeddedResultsTenant(config) : null),
  };
}

/**
 * The secrets of the storage logins: the session keys where there are any, else digests of the keys of tokens.
 *
 * @throws SessionKeyError
 */
export function storageSecrets(
  { gateway }: Pick<Config, "gateway">,
  { sessionKey }: StoragePagesConfig,
  folder: DataFolder | null,
): SessionKeys {
  if (sessionKey !== null || folder) return sessionKeys(sessionKey, folder);
  const secrets = gateway ? tokenSecrets(gateway, folder) : [];
  return givenSessionKeys(
    ...secrets.map((secret) => createHash("sha256").update("session key of the storage pages").update(secret).digest()),
  );
}
