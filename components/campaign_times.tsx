import type { JobDetail, JobSummary } from "@/lib/campaigns/projection/types.ts";
import { timesOf, type TimeWords } from "@/lib/presentation/campaign_times.ts";
import { formatFull, type MomentStyle } from "@/lib/presentation/moments.ts";

interface CampaignTimesProps {
  readonly job: JobSummary;
  readonly detail: JobDetail | null;
  readonly style: MomentStyle;
}

/** When a campaign ends or ended, and how long it has run or waited. */
export function CampaignTimes({ job, detail, style }: CampaignTimesProps) {
  const { main, sub } = timesOf(job, detail, style.now);
  return (
    <div class="when">
      <span>
        <Words words={main} zone={style.zone} />
      </span>
      <span class="sub">
        <Words words={sub} zone={style.zone} />
      </span>
    </div>
  );
}

/** The full instant is on hover, and read out after the words. */
function Words({ words: { text, at, of }, zone }: { words: TimeWords; zone: string }) {
  if (at === null) return <>{text}</>;
  const full = `${of} ${formatFull(at, zone)}`;
  return (
    <time dateTime={at} title={full}>
      {text}
      <span class="sr">, {full}</span>
    </time>
  );
}
