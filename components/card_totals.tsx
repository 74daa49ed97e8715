import type { JobDetail, JobSummary } from "@/lib/campaigns/projection/types.ts";
import { isWhole } from "@/lib/presentation/campaign_state.ts";
import { atLeast, counted, formatCount, formatQuality, knowsPages } from "@/lib/presentation/figures.ts";
import { viewerPath } from "@/lib/presentation/page_paths.ts";
import { LABELS } from "@/lib/presentation/page_sentences.ts";
import { Meter } from "./meter.tsx";

/** Volumes and pages of a campaign as two lines that keep their height; volumes only where there are several. */
export function CardTotals({ job, detail }: { job: JobSummary; detail: JobDetail | null }) {
  const { counts } = job;
  const tone = job.phase === "Running" ? "run" : "done";
  return (
    <dl class="totals">
      <div class={counts.total === 1 ? "without-scripts" : undefined}>
        <dt>{LABELS.volumes}</dt>
        <dd>
          <Meter done={counts.done} failed={counts.failed} total={counts.total} tone="done" />
        </dd>
        <dd class="num text-right whitespace-nowrap">{formatCount(counts.done)} / {formatCount(counts.total)}</dd>
        <dd class="lost">{counts.failed > 0 ? LABELS.failed(formatCount(counts.failed)) : ""}</dd>
        <dd class="note">{counts.active > 0 ? LABELS.active(formatCount(counts.active)) : ""}</dd>
      </div>
      <div class={detail ? undefined : "needs-scripts"}>
        <dt>{LABELS.pages}</dt>
        <dd>
          <Meter
            done={detail?.pagesDone ?? 0}
            failed={detail?.pagesFailed ?? 0}
            total={detail?.pagesTotal ?? 0}
            tone={tone}
          />
        </dd>
        <dd class="num text-right whitespace-nowrap">
          {detail && knowsPages(detail)
            ? `${atLeast(detail)(detail.pagesDone)} / ${atLeast(detail)(detail.pagesTotal)}`
            : "–"}
        </dd>
        <dd class="lost">{detail ? lostWords(detail) : ""}</dd>
        <dd class="note">
          {detail && !isWhole(detail) && (
            <span>
              {LABELS.countedIn(
                formatCount(detail.pagesCoverage.counted),
                counted(detail.pagesCoverage.of, "started volume"),
              )}
            </span>
          )}
          {detail?.quality && <QualityNote quality={detail.quality} />}
        </dd>
      </div>
    </dl>
  );
}

function QualityNote({ quality }: { quality: NonNullable<JobDetail["quality"]> }) {
  return (
    <span>
      {LABELS.quality} {formatQuality(quality.mean)}
      {quality.lowest.length > 0 && ` · ${LABELS.lowestQuality} `}
      {quality.lowest.map(({ volume, page, quality, canvas, iiifUrl }, place) => (
        <span key={`${volume}/${page}`}>
          {place > 0 && ", "}
          <a
            href={viewerPath(iiifUrl, canvas)}
            title={LABELS.pageOf(page, volume)}
            aria-label={`${formatQuality(quality)}, ${LABELS.pageOf(page, volume)}`}
          >
            {formatQuality(quality)}
          </a>
        </span>
      ))}
    </span>
  );
}

function lostWords({ pagesFailed, errors }: JobDetail): string {
  return [
    ...(pagesFailed > 0 ? [LABELS.failed(formatCount(pagesFailed))] : []),
    ...(errors > 0 ? [counted(errors, "error")] : []),
  ].join(" · ");
}
