import type { BatchJob } from "./cluster_objects.ts";
import { endingOf, finishedAtOf, phaseOf } from "./phase.ts";
import { compareText } from "@/lib/std/text.ts";
import type { JobSummary, Warmup } from "./types.ts";
import { resultsBaseOf } from "./urls.ts";
import { waitingOf } from "./waiting.ts";

/** What a summary shows beside the campaign's own objects. */
export interface SummaryContext {
  /** The results URL that browsers use. */
  readonly resultsUrl: string;
  readonly warmup: Warmup;
  /** Whether the campaign's pipeline predicts quality. */
  readonly qualityPrediction: boolean;
}

/** The summary of a campaign whose Job exists (spec, JobSummary). */
export function liveSummary(job: BatchJob, context: SummaryContext): JobSummary {
  return {
    namespace: job.namespace,
    name: job.name,
    campaign: job.campaign,
    pipeline: job.pipeline,
    phase: phaseOf(job),
    counts: { total: job.completions ?? 0, active: job.active, done: job.completed.size, failed: job.failed.size },
    suspended: job.suspended,
    createdAt: job.createdAt || null,
    startedAt: job.startedAt,
    finishedAt: finishedAtOf(job),
    resultsBase: resultsBaseOf(context.resultsUrl, job.namespace, job.pipeline),
    warmup: context.warmup,
    jobGone: false,
    qualityPrediction: context.qualityPrediction,
    waiting: waitingOf(job, context.warmup),
    ending: endingOf(job),
  };
}

/** The rows of a list in the order of the response: newest created first, equals as they came (live rows go in first). */
export function newestFirst<Row extends { readonly createdAt: string | null }>(rows: Iterable<Row>): Row[] {
  return [...rows].sort((a, b) => compareText(b.createdAt ?? "", a.createdAt ?? ""));
}
