import type { JobDetail, JobSummary } from "@/lib/campaigns/projection/types.ts";
import { CARD } from "@/lib/presentation/card_sentences.ts";
import { formatCount } from "@/lib/presentation/locale/figures.ts";
import { formatMoment, type MomentStyle } from "@/lib/presentation/moments.ts";
import { CHART, timelineChart } from "@/lib/presentation/timeline_chart.ts";
import { Moment } from "./moment.tsx";

interface CardTimelineProps {
  readonly job: JobSummary;
  readonly detail: JobDetail | null;
  readonly style: MomentStyle;
}

/** The course of a campaign as a small chart, with a table for those who do not see it. */
export function CardTimeline({ job, detail, style }: CardTimelineProps) {
  const chart = detail && timelineChart(detail);
  // A campaign that runs will have one, so that its space is there before it is read.
  if (!detail && job.phase === "Running" && job.counts.done > 0) {
    return (
      <div class="timeline" aria-hidden="true">
        <svg viewBox="0 0 1 1" />
        <span class="sub">&nbsp;</span>
      </div>
    );
  }
  if (!detail || !chart) return null;
  const { ended, failed, first, last, rows } = chart;
  return (
    <figure class="timeline">
      <svg viewBox={`0 -2 ${CHART.width} ${CHART.height + 4}`} preserveAspectRatio="none" aria-hidden="true">
        <polyline class="run" points={ended} />
        {last.volumesFailed > 0 && <polyline class="bad" points={failed} />}
      </svg>
      <figcaption class="sub">
        <Moment at={first.at} style={style} />
        <span>
          {CARD.endedVolumes(last.volumesDone + last.volumesFailed)}
          {last.volumesFailed > 0 && `, ${CARD.failed(formatCount(last.volumesFailed))}`}
        </span>
        <Moment at={last.at} since={first.at} style={style} />
      </figcaption>
      <div class="sr">
        <table>
          <caption>{CARD.courseOf(detail.name)}</caption>
          <thead>
            <tr>
              <th scope="col">{CARD.time}</th>
              <th scope="col">{CARD.volumesDone}</th>
              <th scope="col">{CARD.volumesFailed}</th>
              <th scope="col">{CARD.pagesDone}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ at, volumesDone, volumesFailed, pagesDone }) => (
              <tr key={at}>
                <th scope="row">{formatMoment(at, style)}</th>
                <td>{formatCount(volumesDone)}</td>
                <td>{formatCount(volumesFailed)}</td>
                <td>{formatCount(pagesDone)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}
