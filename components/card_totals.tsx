import type { JobDetail, JobSummary } from "@/lib/campaigns/projection/types.ts";
import { isAtGate, isWhole } from "@/lib/presentation/campaign_state.ts";
import { formatCount, formatQuality } from "@/lib/presentation/locale/figures.ts";
import { atLeast, knowsPages } from "@/lib/presentation/pages_sentence.ts";
import type { NamedCampaign } from "@/lib/presentation/named_campaign.ts";
import { viewerPath } from "@/lib/presentation/page_paths.ts";
import { CARD } from "@/lib/presentation/card_sentences.ts";
import { Meter } from "./meter.tsx";

/** Volumes and pages of a campaign as two lines that keep their height; volumes only where there are several. */
export function CardTotals({ job, detail }: { job: JobSummary; detail: JobDetail | null }) {
  const { counts } = job;
  return (
    <dl class="totals">
      <div class={counts.total === 1 ? "without-scripts" : undefined}>
        <dt>{CARD.volumes}</dt>
        <dd>
          <Meter
            parts={[{ count: counts.done, tone: "done" }, { count: counts.failed, tone: "bad" }, {
              count: isAtGate(job) ? 0 : counts.active,
              tone: "run",
            }]}
            total={counts.total}
          />
        </dd>
        <dd class="num text-right whitespace-nowrap">{formatCount(counts.done)} / {formatCount(counts.total)}</dd>
        <dd class="lost">{counts.failed > 0 ? CARD.failed(formatCount(counts.failed)) : ""}</dd>
        <dd class="note">{counts.active > 0 ? CARD.active(formatCount(counts.active)) : ""}</dd>
      </div>
      <div class={detail ? undefined : "needs-scripts"}>
        <dt>{CARD.pages}</dt>
        <dd>
          <Meter
            parts={[{ count: detail?.pagesDone ?? 0, tone: job.phase === "Running" ? "run" : "done" }, {
              count: detail?.pagesFailed ?? 0,
              tone: "warn",
            }]}
            total={detail?.pagesTotal ?? 0}
          />
        </dd>
        <dd class="num text-right whitespace-nowrap">
          {detail && knowsPages(detail)
            ? `${atLeast(detail)(detail.pagesDone)} / ${atLeast(detail)(detail.pagesTotal)}`
            : "–"}
        </dd>
        <dd class="lost dots">{detail && <LostWords {...detail} />}</dd>
        <dd class="note dots">
          {detail && !isWhole(detail) && (
            <span>
              {CARD.countedIn(
                formatCount(detail.pagesCoverage.counted),
                detail.pagesCoverage.of,
              )}
            </span>
          )}
          {typeof detail?.pace?.pagesPerMinute === "number" && (
            <span>{CARD.pagesPerMinute(formatCount(Math.round(detail.pace.pagesPerMinute)))}</span>
          )}
          {detail?.quality && <QualityNote quality={detail.quality} campaign={job} />}
        </dd>
      </div>
    </dl>
  );
}

interface QualityNoteProps {
  readonly quality: NonNullable<JobDetail["quality"]>;
  readonly campaign: NamedCampaign;
}

function QualityNote({ quality, campaign }: QualityNoteProps) {
  return (
    <>
      <span>{CARD.quality} {formatQuality(quality.mean)}</span>
      {quality.lowest.length > 0 && (
        <span>
          {CARD.lowestQuality}{" "}
          {quality.lowest.map(({ volume, page, quality, canvas, iiifUrl }, place) => (
            <span key={`${volume}/${page}`}>
              {place > 0 && " "}
              <a
                href={viewerPath(iiifUrl, canvas, campaign)}
                title={CARD.pageOf(page, volume)}
                aria-label={`${formatQuality(quality)}, ${CARD.pageOf(page, volume)}`}
              >
                {formatQuality(quality)}
              </a>
            </span>
          ))}
        </span>
      )}
    </>
  );
}

function LostWords({ pagesFailed, errors }: JobDetail) {
  return (
    <>
      {pagesFailed > 0 && <span>{CARD.pagesLost(formatCount(pagesFailed), pagesFailed === 1)}</span>}
      {errors > 0 && <span title={CARD.loggedErrorsMean}>{CARD.loggedErrors(formatCount(errors), errors === 1)}</span>}
    </>
  );
}
