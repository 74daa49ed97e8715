import { formatDuration } from "@/lib/presentation/durations.ts";
import { formatCount, formatQuality } from "@/lib/presentation/figures.ts";
import { LABELS } from "@/lib/presentation/page_sentences.ts";
import type { RunManifest } from "@/lib/presentation/run_manifest/run_manifest.ts";
import type { RunSummary } from "@/lib/presentation/run_manifest/run_summary.ts";

interface RunFiguresProps {
  /** Null while they are not known: the figures keep their places. */
  readonly run: { readonly manifest: RunManifest; readonly summary: RunSummary } | null;
}

/** What a run took and reached, in one strip. */
export function RunFigures({ run }: RunFiguresProps) {
  const summary = run?.summary;
  const seconds = (value: number | null | undefined) => typeof value === "number" ? formatDuration(value) : "–";
  const skipped = summary?.skipped ?? 0;
  return (
    <dl class="figures" aria-label={LABELS.runTotals}>
      <div>
        <dt>{LABELS.took}</dt>
        <dd>{seconds(summary?.totalSeconds)}</dd>
      </div>
      <div>
        <dt>{LABELS.pagesRead}{skipped > 0 && `, ${LABELS.readEarlierBy(formatCount(skipped))}`}</dt>
        <dd>
          {run ? formatCount(run.summary.ok + skipped) : "–"}
          {run && <small>{LABELS.of(formatCount(run.manifest.pageCount))}</small>}
        </dd>
      </div>
      <div>
        <dt>{LABELS.pagesLost}</dt>
        <dd class={summary && summary.failed > 0 ? "warn" : ""}>{summary ? formatCount(summary.failed) : "–"}</dd>
      </div>
      <div>
        <dt>{LABELS.medianSeconds}</dt>
        <dd>{seconds(summary?.median)}</dd>
      </div>
      <div>
        <dt>{LABELS.p95Seconds}</dt>
        <dd>{seconds(summary?.p95)}</dd>
      </div>
      {typeof summary?.meanQuality === "number" && (
        <div>
          <dt>
            {LABELS.quality}
            {typeof summary.minQuality === "number" && `, ${LABELS.lowestQuality} ${formatQuality(summary.minQuality)}`}
          </dt>
          <dd>{formatQuality(summary.meanQuality)}</dd>
        </div>
      )}
    </dl>
  );
}
