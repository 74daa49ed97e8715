import type { ProgressReader, ProgressViewer } from "@/lib/campaigns/progress/progress_reader.ts";
import type { Tallies } from "@/lib/campaigns/progress/progress_cache.ts";
import type { BatchPod } from "@/lib/campaigns/projection/cluster_objects.ts";
import {
  type CampaignLayout,
  composeDetail,
  detailJson,
  layoutLive,
  layoutReaped,
  type VolumePage,
  wantedProgress,
} from "@/lib/campaigns/projection/detail.ts";
import { type PageTally, runFingerprint } from "@/lib/campaigns/projection/page_tally.ts";
import { isOver } from "@/lib/campaigns/projection/progress.ts";
import type { JobDetail, JobSummary, RunState } from "@/lib/campaigns/projection/types.ts";
import { needsPods, warmupOf } from "@/lib/campaigns/projection/summary.ts";
import type { CampaignRecords } from "@/lib/campaigns/records/campaign_records.ts";
import type { Failures } from "@/lib/campaigns/records/record_plan.ts";
import { type CampaignObjects, type CampaignSource, STALE_MS } from "@/lib/campaigns/source/campaign_source.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { DNS_LABEL } from "@/lib/std/text.ts";
import type { CampaignLists } from "./campaign_list.ts";

export interface CampaignDetailDeps {
  readonly source: CampaignSource;
  readonly progress: ProgressReader;
  readonly tallies: Tallies;
  /** Called with each live campaign; absent where no records are written. */
  readonly records?: CampaignRecords;
  /** ms since 1970 */
  readonly now: () => number;
}

interface CampaignDetailRequest {
  readonly namespace: string;
  /** The Job's name. */
  readonly name: string;
  readonly page: VolumePage;
  /** The results URL that the caller's browser uses. */
  readonly resultsUrl: string;
  readonly viewer: ProgressViewer;
}

/**
 * One campaign with a page of its volumes and their progress (spec, GET /api/v1/jobs/{namespace}/{name}); null when no
 * campaign has that name.
 *
 * @throws {ClusterUnavailable}
 */
export async function campaignDetail(
  deps: CampaignDetailDeps,
  request: CampaignDetailRequest,
): Promise<JobDetail | null> {
  const read = await readCampaign(deps, request);
  return read && composeDetail(...read);
}

/** The same as JSON. @throws {ClusterUnavailable} */
export async function campaignDetailJson(
  deps: CampaignDetailDeps,
  request: CampaignDetailRequest,
): Promise<Uint8Array<ArrayBuffer> | null> {
  const read = await readCampaign(deps, request);
  return read && detailJson(...read);
}

async function readCampaign(
  { source, progress, tallies, records, now }: CampaignDetailDeps,
  { namespace, name, page, resultsUrl, viewer }: CampaignDetailRequest,
): Promise<Parameters<typeof composeDetail> | null> {
  const objects = await source.campaign(namespace, name);
  if (!objects) return null;
  const { campaign, run } = layoutOf(source, objects, resultsUrl);
  const { summary: { pipeline }, volumes, states: { states } } = campaign;
  const memory = tallies.of(viewer.digest, run);
  const wanted = wantedProgress(campaign, page, unlessTallied(campaign, page, memory.tally));
  const answers = await progress.read({ namespace, pipeline, run, volumes, states }, wanted, viewer);
  if (objects.kind === "live") records?.shown(objects.job, failuresOf(campaign));
  return [campaign, page, answers, now(), memory];
}

function failuresOf({ failures, rows }: CampaignLayout): Failures {
  return new Map(failures.map((index) => [rows.id(index), rows.reason(index)?.error ?? ""]));
}

interface RunLayout {
  readonly campaign: CampaignLayout;
  /** Identifies the run, for tallies and progress. */
  readonly run: string;
  readonly resultsUrl: string;
  readonly pods: readonly BatchPod[];
}

/** Layouts by source objects, so that thousands of volumes are processed once. */
const layoutCache = new WeakMap<CampaignObjects, RunLayout>();
const NO_PODS: readonly BatchPod[] = [];

function layoutOf(source: CampaignSource, objects: CampaignObjects, resultsUrl: string): RunLayout {
  const job = objects.warmup;
  const pods = job && needsPods(job) ? source.pods(job.namespace, job.name) : NO_PODS;
  const cached = layoutCache.get(objects);
  if (cached?.resultsUrl === resultsUrl && cached.pods === pods) return cached;
  const campaign = layout(objects, { resultsUrl, warmup: warmupOf(job, pods) });
  const { namespace, name, startedAt } = campaign.summary;
  const run = cached?.run ?? runFingerprint(namespace, name, startedAt, campaign.volumes);
  const made = { campaign, run, resultsUrl, pods };
  layoutCache.set(objects, made);
  return made;
}

function layout(objects: CampaignObjects, context: Parameters<typeof layoutLive>[4]): CampaignLayout {
  return objects.kind === "live"
    ? layoutLive(objects.job, objects.volumes, objects.pods, objects.pipeline, context)
    : layoutReaped(objects.campaign, objects.volumes, objects.pipeline, context);
}

/** Volumes that have ended, are in the tally and are not shown need no read. */
function unlessTallied({ shown }: CampaignLayout, { offset, limit }: VolumePage, tally: PageTally) {
  return (index: number, state: RunState) =>
    !tally.has(index) || (index >= offset && index < offset + limit) || !isOver(state) || shown.has(index);
}

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

/** The campaigns that pages show to the user of a request. */
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
