import { LRUCache } from "lru-cache";
import { type BatchJob, keyOf } from "@/lib/campaigns/projection/cluster_objects.ts";
import { chooseReaped, reapedSummary } from "@/lib/campaigns/projection/status_record.ts";
import {
  indexWarmups,
  liveSummary,
  needsPods,
  newestFirst,
  type SummaryContext,
  warmupOf,
} from "@/lib/campaigns/projection/summary.ts";
import type { JobSummary, Warmup } from "@/lib/campaigns/projection/types.ts";
import type { CampaignRecords } from "@/lib/campaigns/records/campaign_records.ts";
import type { CampaignSnapshot, CampaignSource } from "@/lib/campaigns/source/campaign_source.ts";
import { joinedJson, type RowJson, separated } from "@/lib/campaigns/projection/volume_rows.ts";
import { CountedCache } from "@/lib/std/caches.ts";

interface CampaignListRequest {
  /** The results URL that the caller's browser uses. */
  readonly resultsUrl: string;
  /** The largest number of reaped campaigns. */
  readonly reaped: number;
}

/** Cached lists, one for each results URL and number of reaped campaigns. */
const MAX_CACHED_LISTS = 8;
/** Results URLs with cached rows. */
const MAX_CACHED_RESULTS_URLS = 4;

/**
 * Every live campaign and the reaped ones that ended last (spec, GET /api/v1/jobs). A list is projected once for each
 * snapshot of the source, and of it only the rows whose objects changed. `records`, where given, is called with each
 * snapshot.
 */
export class CampaignLists {
  readonly #lists = new CountedCache<string, { snapshot: CampaignSnapshot; list: ListedRows }>(
    "campaign_lists",
    { max: MAX_CACHED_LISTS },
  );
  readonly #rows = new LRUCache<string, RowCache>({ max: MAX_CACHED_RESULTS_URLS });

  constructor(private readonly source: CampaignSource, private readonly records?: CampaignRecords) {}

  /**
   * The campaigns, newest created first, and how many are reaped, listed or not.
   *
   * @throws {ClusterUnavailable}
   */
  async list(request: CampaignListRequest): Promise<{ jobs: readonly JobSummary[]; reapedTotal: number }> {
    const { rows, reapedTotal } = await this.#listed(request);
    return { jobs: rows.map(({ summary }) => summary), reapedTotal };
  }

  /** The same with the campaigns as a JSON array. @throws {ClusterUnavailable} */
  async bytes(request: CampaignListRequest) {
    const list = await this.#listed(request);
    const body = list.body ??= joinedJson(["[", ...separated(list.rows.map(jsonOf)), "]"]);
    return { body, reapedTotal: list.reapedTotal };
  }

  async #listed(request: CampaignListRequest): Promise<ListedRows> {
    const snapshot = await this.source.list();
    this.records?.listed(snapshot);
    const name = `${request.reaped} ${request.resultsUrl}`;
    const cached = this.#lists.getFitting(name, (entry) => entry.snapshot === snapshot);
    if (cached) return cached.list;
    const list = this.#projected(snapshot, request);
    this.#lists.set(name, { snapshot, list });
    return list;
  }

  #projected(snapshot: CampaignSnapshot, { resultsUrl, reaped }: CampaignListRequest): ListedRows {
    const live = new Set(snapshot.jobs.map(({ namespace, name }) => keyOf(namespace, name)));
    const { chosen, total } = chooseReaped(
      snapshot.records,
      snapshot.statuses,
      (namespace, job) => live.has(keyOf(namespace, job)),
      reaped,
    );
    const warmups = indexWarmups(snapshot.warmups);
    // Campaigns of one pipeline share a warm-up.
    const explained = new Map<BatchJob | null, Warmup>();
    const warmup = (job: BatchJob | null) => {
      const known = explained.get(job) ??
        warmupOf(job, job && needsPods(job) ? this.source.pods(job.namespace, job.name) : []);
      explained.set(job, known);
      return known;
    };
    const scoring = new Set(
      snapshot.pipelines.filter(({ scoresQuality }) => scoresQuality)
        .map(({ namespace, pipeline }) => keyOf(namespace, pipeline)),
    );
    const contextOf = ({ namespace, pipeline }: PipelineUse): SummaryContext => ({
      warmup: warmup(warmups.find(namespace, pipeline)),
      qualityPrediction: scoring.has(keyOf(namespace, pipeline)),
      resultsUrl,
    });
    const rows = this.#rows.get(resultsUrl) ?? new RowCache();
    this.#rows.set(resultsUrl, rows);
    return {
      rows: newestFirst([
        ...snapshot.jobs.map((job) => rows.row([job], contextOf(job), (context) => liveSummary(job, context))),
        ...chosen.map((campaign) => {
          const { record, status } = campaign;
          return rows.row([record, status], contextOf(record), (context) => reapedSummary(campaign, context));
        }),
      ]),
      reapedTotal: total,
      body: null,
    };
  }
}

interface ListedRows {
  readonly rows: readonly ListRow[];
  readonly reapedTotal: number;
  /** Null until first requested. */
  body: Uint8Array<ArrayBuffer> | null;
}

type PipelineUse = Pick<BatchJob, "namespace" | "pipeline">;

/** One campaign of a list. */
interface ListRow {
  readonly summary: JobSummary;
  readonly createdAt: string | null;
  /** Null until first requested. */
  json: RowJson | null;
}

function jsonOf(row: ListRow): RowJson {
  return row.json ??= { bytes: new TextEncoder().encode(JSON.stringify(row.summary)), age: null };
}

/** The rows of one results URL, each cached as long as its source objects exist. */
class RowCache {
  readonly #rows = new WeakMap<object, { others: readonly object[]; used: string; row: ListRow }>();

  /** The row of `objects`, which are immutable, and `context`; `project` creates it unless the cached one has the same. */
  row(
    [first, ...others]: readonly [object, ...object[]],
    context: SummaryContext,
    project: (context: SummaryContext) => JobSummary,
  ): ListRow {
    const used = JSON.stringify(context);
    const cached = this.#rows.get(first);
    if (cached?.used === used && others.every((other, i) => other === cached.others[i])) return cached.row;
    const summary = project(context);
    const row = { summary, createdAt: summary.createdAt, json: null };
    this.#rows.set(first, { others, used, row });
    return row;
  }
}
