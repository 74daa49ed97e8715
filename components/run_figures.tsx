import { formatDuration } from "@/lib/presentation/durations.ts";
import { formatCount, formatQuality } from "@/lib/presentation/locale/figures.ts";
import { LOG_LABELS } from "@/lib/presentation/run_log/words.ts";
import type { RunLog } from "@/lib/presentation/run_log/run_log.ts";
import type { RunManifest } from "@/lib/presentation/run_manifest/run_manifest.ts";
import type { RunSummary } from "@/lib/presentation/run_manifest/run_summary.ts";

interface RunFiguresProps {
  /** What the run's manifest says; null while it is not known. */
  readonly run: { readonly manifest: RunManifest; readonly summary: RunSummary } | null;
  /** What the log says where there is no manifest yet; null while it is not known. */
  readonly log: RunLog | null;
  /** The run still writes. */
  readonly isLive: boolean;
  /** The manifest is being read: its figures keep their places. */
  readonly isExpected: boolean;
}

/** What a run took and reached, in one strip. */
export function RunFigures({ run, log, isLive, isExpected }: RunFiguresProps) {
  const summary = run?.summary;
  const seconds = (value: number | null | undefined) => typeof value === "number" ? formatDuration(value) : "–";
  const skipped = summary?.skipped ?? 0;
  const pageCount = run?.manifest.pageCount ?? log?.pageCount ?? null;
  return (
    <dl class="figures needs-scripts" aria-label={LOG_LABELS.runTotals}>
      <div>
        <dt>{isLive && !run ? LOG_LABELS.tookSoFar : LOG_LABELS.took}</dt>
        <dd>{seconds(summary?.totalSeconds ?? spanOf(log))}</dd>
      </div>
      {run || isExpected
        ? (
          <>
            <div>
              <dt>{LOG_LABELS.pagesRead}{skipped > 0 && `, ${LOG_LABELS.readEarlierBy(formatCount(skipped))}`}</dt>
              <dd>
                {run ? formatCount(run.summary.ok + skipped) : "–"}
                {pageCount !== null && <small>{LOG_LABELS.of(formatCount(pageCount))}</small>}
              </dd>
            </div>
            <div>
              <dt>{LOG_LABELS.pagesLost}</dt>
              <dd class={summary && summary.failed > 0 ? "warn" : ""}>{summary ? formatCount(summary.failed) : "–"}</dd>
            </div>
            <div>
              <dt>{LOG_LABELS.medianSeconds}</dt>
              <dd>{seconds(summary?.median)}</dd>
            </div>
            <div>
              <dt>{LOG_LABELS.p95Seconds}</dt>
              <dd>{seconds(summary?.p95)}</dd>
            </div>
          </>
        )
        : (
          <div>
            <dt>{LOG_LABELS.pages}</dt>
            <dd>{pageCount === null ? "–" : formatCount(pageCount)}</dd>
          </div>
        )}
      {typeof summary?.meanQuality === "number" && (
        <div>
          <dt>
            {LOG_LABELS.quality}
            {typeof summary.minQuality === "number" &&
              `, ${LOG_LABELS.lowestQuality} ${formatQuality(summary.minQuality)}`}
          </dt>
          <dd>{formatQuality(summary.meanQuality)}</dd>
        </div>
      )}
    </dl>
  );
}

/** From the first record of the log to the last, seconds. */
function spanOf(log: RunLog | null): number | null {
  return log?.startedAt == null || log.endedAt === null ? null : Math.max(0, log.endedAt - log.startedAt) / 1000;
}
