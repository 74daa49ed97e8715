import type { JobDetail } from "@/lib/campaigns/projection/types.ts";
import { accentOf } from "@/lib/presentation/campaign_state.ts";
import { formatCount } from "@/lib/presentation/locale/figures.ts";
import type { MomentStyle } from "@/lib/presentation/moments.ts";
import { OPEN_CAMPAIGN_ID, openCampaignPath } from "@/lib/presentation/page_paths.ts";
import { CARD } from "@/lib/presentation/card_sentences.ts";
import { problemsOf } from "@/lib/presentation/problems.ts";
import { CardIdentity } from "./card_identity.tsx";
import { CardProblems } from "./card_problems.tsx";
import { CardProvenance } from "./card_provenance.tsx";
import { CardTotals } from "./card_totals.tsx";
import { VolumeTable } from "./volume_table.tsx";

interface OpenCampaignProps {
  readonly detail: JobDetail;
  /** Volumes before the first one shown. */
  readonly offset: number;
  readonly style: MomentStyle;
}

/** One campaign with a page of its volumes, for readers without scripts: nothing in it needs to be folded out. */
export function OpenCampaign({ detail, offset, style }: OpenCampaignProps) {
  const { name, namespace, volumes, counts } = detail;
  const next = offset + volumes.length;
  const rows = new Set(volumes.map(({ id }) => id));
  return (
    <section id={OPEN_CAMPAIGN_ID} class={`card ${accentOf(detail, detail)}`} aria-label={CARD.volumesOf(name)}>
      <CardIdentity job={detail} detail={detail} trouble={null} spansNamespaces style={style} fold={null} />
      <div class="body">
        <CardTotals job={detail} detail={detail} />
        {volumes.length > 0
          ? <VolumeTable job={detail} volumes={volumes} placeholders={0} now={style.now} whole />
          : <p class="note">{offset > 0 ? CARD.noMoreVolumes : CARD.noVolumes}</p>}
        {volumes.length > 0 && (
          <p class="note dots">
            <span>
              {CARD.volumeRange(formatCount(offset + 1), formatCount(next), formatCount(Math.max(counts.total, next)))}
            </span>
            {next < counts.total && (
              <span>
                <a href={openCampaignPath(namespace, name, next)}>{CARD.nextVolumes}</a>
              </span>
            )}
          </p>
        )}
      </div>
      <CardProblems {...problemsOf(detail, detail, rows)} campaign={detail} />
      <CardProvenance job={detail} detail={detail} />
    </section>
  );
}
