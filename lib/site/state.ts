import type { CampaignPages } from "@/lib/campaigns/reader/campaign_detail.ts";
import type { Session } from "@/lib/results/session_check.ts";
import type { StorageDeps } from "@/lib/site/storage/logins.ts";
import type { StorageVisit } from "@/lib/site/storage/storage_visit.ts";
import { createDefine } from "./define.ts";
import type { Assets } from "./site.ts";

/** The dependencies of pages, the same for each request. */
export interface Site {
  readonly assets: Assets;
  /** Folder of further files of the site. */
  readonly staticFolder: string;
  /** Base of result URLs as the browser of this request reaches it; "" in a site without a cluster. */
  resultsUrl(request: Request): string;
  session(request: Request): Promise<Session>;
  /** Null in a site without a cluster, which has no login and no list. */
  readonly campaigns: CampaignPages | null;
  /** Null in a site without storage pages. */
  readonly storage: StorageDeps | null;
  /** Accounts with a public password; null where the store has none. */
  readonly sampleLogins: SampleLogins | null;
  /** The tenant whose accounts open the campaigns; null where it is not known, or where there are no tenants. */
  readonly campaignTenant: string | null;
  /** ms since 1970 */
  now(): number;
}

interface SampleLogins {
  readonly logins: readonly { readonly login: string; readonly what: string }[];
  readonly password: string;
  /** The login of the button. */
  readonly visitor: string;
}

/** `ctx.state` of a page: its dependencies, and what its handler and middleware say about the document and its frame. */
export interface State extends Site {
  /** Stands before the product's name. */
  title: string;
  /** Campaigns in trouble, shown by the title and the icon. */
  troubled?: number;
  /** Whether it is the list of campaigns, which has its own script. */
  isList?: boolean;
  /** The value of its Content-Security-Policy. */
  policy: string;
  /** The user who is logged in; null: none, or unknown. */
  user: string | null;
  /** The place of the site that it belongs to. */
  current: "campaigns" | "storage" | null;
  /** The path after a login; this page when absent. */
  afterLogin?: string;
}

export const define = createDefine<State>();

/** `ctx.state` of a page of the storage. */
export interface StorageState extends State {
  readonly storage: StorageDeps;
  /** The login that the address names. The middleware calls no handler without one. */
  visit: StorageVisit;
}

export const defineStorage = createDefine<StorageState>();
