import type { ProgressViewer } from "@/lib/campaigns/progress/progress_reader.ts";
import type { JobDetail, JobSummary } from "@/lib/campaigns/projection/types.ts";
import { STALE_MS } from "@/lib/campaigns/source/campaign_source.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { DNS_LABEL } from "@/lib/std/text.ts";
import { campaignDetail, type CampaignDetailDeps } from "./campaign_detail.ts";
import type { CampaignLists } from "./campaign_list.ts";

/** Volumes of a page where its reader does not say how many (spec, Limits). */
export const DEFAULT_VOLUMES = 200;

/** An expected failure, such as an unreachable cluster, which the page shows. */
interface Failed {
  readonly problem: Pick<HttpError, "status" | "coded">;
}

/** The list as the server could read it for this request's user. */
type ListAnswer =
  | {
    readonly jobs: readonly JobSummary[];
    readonly reapedTotal: number;
    /** How old the list is where the cluster could not be followed of late, ms; else null. */
    readonly ageMs: number | null;
  }
  | Failed;

/** null: there is no such campaign. */
export type OpenAnswer = { readonly detail: JobDetail } | Failed | null;

/** What pages read of campaigns, for the user of a request. */
export interface CampaignPages {
  /** @param reaped the most campaigns without a Job */
  list(request: Request, reaped: number): Promise<ListAnswer>;
  detail(
    request: Request,
    requested: { readonly namespace: string; readonly name: string; readonly offset: number },
  ): Promise<OpenAnswer>;
}

interface CampaignPagesDeps extends CampaignDetailDeps {
  readonly lists: CampaignLists;
  /** The namespaces served. */
  readonly namespaces: readonly string[];
  session(request: Request): Promise<Omit<ProgressViewer, "signal">>;
  resultsUrl(request: Request): string;
}

/** The campaigns of a cluster, as pages read them. */
export function campaignPages(deps: CampaignPagesDeps): CampaignPages {
  const { lists, source, resultsUrl } = deps;
  return {
    list: (request, reaped) =>
      orFailed(async () => {
        const list = await lists.list({ resultsUrl: resultsUrl(request), reaped });
        const age = source.age() ?? 0;
        return { ...list, ageMs: age > STALE_MS ? age : null };
      }),
    async detail(request, { namespace, name, offset }) {
      if (!canBeCampaign(deps.namespaces, namespace, name)) return null;
      return await orFailed(async () => {
        const caller = await deps.session(request);
        const detail = await campaignDetail(deps, {
          namespace,
          name,
          page: { offset, limit: DEFAULT_VOLUMES },
          resultsUrl: resultsUrl(request),
          viewer: { ...caller, signal: request.signal },
        });
        return detail && { detail };
      });
    },
  };
}

/** Only valid Job names in served namespaces are sent to the Kubernetes API. */
export function canBeCampaign(served: readonly string[], namespace: string, name: string): boolean {
  return served.includes(namespace) && DNS_LABEL.test(name);
}

async function orFailed<Found>(read: () => Promise<Found>): Promise<Found | Failed> {
  try {
    return await read();
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    return { problem: error };
  }
}
