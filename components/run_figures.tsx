import { formatDuration } from "@/lib/presentation/durations.ts";
import { formatCount, formatQuality } from "@/lib/presentation/figures.ts";
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
    <dl class="figures" aria-label="Totals of this run">
      <div>
        <dt>took</dt>
        <dd>{seconds(summary?.totalSeconds)}</dd>
      </div>
      <div>
        <dt>pages read{skipped > 0 && `, ${formatCount(skipped)} of them by an earlier run`}</dt>
        <dd>
          {run ? formatCount(run.summary.ok + skipped) : "–"}
          {run && <small>of {formatCount(run.manifest.pageCount)}</small>}
        </dd>
      </div>
      <div>
        <dt>pages lost</dt>
        <dd class={summary && summary.failed > 0 ? "warn" : ""}>{summary ? formatCount(summary.failed) : "–"}</dd>
      </div>
      <div>
        <dt>seconds a page, median</dt>
        <dd>{seconds(summary?.median)}</dd>
      </div>
      <div>
        <dt>95 % of pages within</dt>
        <dd>{seconds(summary?.p95)}</dd>
      </div>
      {typeof summary?.meanQuality === "number" && (
        <div>
          <dt>
            quality{typeof summary.minQuality === "number" && `, lowest ${formatQuality(summary.minQuality)}`}
          </dt>
          <dd>{formatQuality(summary.meanQuality)}</dd>
        </div>
      )}
    </dl>
  );
}
