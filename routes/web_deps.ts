import type { ProgressReader } from "@/lib/campaigns/progress/progress_reader.ts";
import type { Tallies } from "@/lib/campaigns/progress/progress_cache.ts";
import type { CampaignLists } from "@/lib/campaigns/reader/campaign_list.ts";
import type { CampaignRecords } from "@/lib/campaigns/records/campaign_records.ts";
import type { CampaignSource } from "@/lib/campaigns/source/campaign_source.ts";
import type { RequestLog } from "@/lib/http/access_log.ts";
import type { ResultsService } from "@/lib/results/results_service.ts";
import type { SessionCheck } from "@/lib/results/session_check.ts";
import type { Assets } from "@/lib/site/site.ts";
import type { GatewayService } from "@/lib/auth/gateway_service.ts";
import type { RevokedSessions } from "@/lib/auth/revoked_sessions.ts";
import type { SessionKeys } from "@/lib/auth/session_key.ts";
import type { LoginPageDeps } from "./login.tsx";

/** The sources of campaigns. */
export interface CampaignDeps {
  readonly source: CampaignSource;
  /** The lists of that source. */
  readonly lists: CampaignLists;
  readonly progress: ProgressReader;
  readonly tallies: Tallies;
  /** Keeps the status records up to date; absent where none are written. */
  readonly records?: CampaignRecords;
  /** The namespaces served. */
  readonly namespaces: readonly string[];
  readonly session: SessionCheck;
  /** Forgets cached sessions by their cookies' values; absent where none are cached. */
  readonly forgetSessions?: (tokens: readonly string[]) => void;
  /** Whether the cluster answers and the data of it is current, for readiness. */
  readonly reachable: () => Promise<boolean>;
}

/** The files of the pages. */
export interface SiteFiles {
  readonly staticFolder: string;
  readonly assets: Assets;
}

/** The settings of the storage pages. */
export interface StorageSettings {
  /** The gateway role of another process; null: that of this one, without which there are no storage pages. */
  readonly gateway: GatewayService | null;
  /** The secrets from which the keys of storage logins are derived. */
  readonly secrets: SessionKeys;
  /** Logins that ended before their time. */
  readonly revoked: RevokedSessions;
  readonly sessionHours: number;
  /** The tenant whose accounts open the campaigns too; null where it is not known or there are no tenants. */
  readonly campaignTenant: string | null;
}

/** The dependencies of the web role. */
export interface WebDeps {
  /** Null or absent in a process that cannot have storage pages. */
  readonly storage?: StorageSettings | null;
  /** The results role, here or elsewhere; null in a site without one. */
  readonly service: ResultsService | null;
  /** Null in a site without a cluster. */
  readonly campaigns: CampaignDeps | null;
  /** The base of result URLs for the browser that sent a request. */
  readonly resultsUrl: (request: Request) => string;
  readonly cookieStem: string;
  /** Release tag of the deployment. */
  readonly version: string;
  /** Version of this project. */
  readonly webVersion: string;
  /** Null: the API alone. */
  readonly site: SiteFiles | null;
  /** Accounts with a public password, as the login page offers them; absent where the store has none. */
  readonly sampleLogins?: LoginPageDeps["sampleLogins"];
  /** The tenant whose accounts open the campaigns; absent where it is not known, or where there are no tenants. */
  readonly campaignTenant?: string | null;
  readonly log: RequestLog;
  /** ms since 1970 */
  readonly now: () => number;
}
