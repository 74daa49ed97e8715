import type { JobDetail } from "@/lib/campaigns/projection/types.ts";
import { accentOf, chipsOf } from "@/lib/presentation/campaign_state.ts";
import { formatCount } from "@/lib/presentation/figures.ts";
import { OPEN_CAMPAIGN_ID, openCampaignPath } from "@/lib/presentation/page_paths.ts";
import { LABELS, SENTENCES } from "@/lib/presentation/page_sentences.ts";
import { problemsOf } from "@/lib/presentation/problems.ts";
import { CardProblems } from "./card_problems.tsx";
import { CardProvenance } from "./card_provenance.tsx";
import { CardTotals } from "./card_totals.tsx";
import { Chip } from "./chip.tsx";
import { VolumeTable } from "./volume_table.tsx";

interface OpenCampaignProps {
  readonly detail: JobDetail;
  /** Volumes before the first one shown. */
  readonly offset: number;
}

/** One campaign with a page of its volumes, for readers without scripts: nothing in it needs to be folded out. */
export function OpenCampaign({ detail, offset }: OpenCampaignProps) {
  const { name, namespace, volumes, counts } = detail;
  const next = offset + volumes.length;
  const rows = new Set(volumes.map(({ id }) => id));
  return (
    <section id={OPEN_CAMPAIGN_ID} class={`card ${accentOf(detail, detail)}`} aria-label={LABELS.volumesOf(name)}>
      <div class="identity">
        <h2>{namespace}/{name}</h2>
        <span class="flex flex-wrap gap-1">
          {chipsOf(detail, detail).map((chip) => <Chip key={chip.text} {...chip} />)}
        </span>
      </div>
      <div class="body">
        <CardTotals job={detail} detail={detail} />
        {volumes.length > 0
          ? <VolumeTable job={detail} volumes={volumes} placeholders={0} />
          : <p class="note">{offset > 0 ? SENTENCES.noMoreVolumes : SENTENCES.noVolumes}</p>}
        {volumes.length > 0 && (
          <p class="note">
            {LABELS.volumeRange(formatCount(offset + 1), formatCount(next), formatCount(Math.max(counts.total, next)))}
            {next < counts.total && (
              <>
                {" · "}
                <a href={openCampaignPath(namespace, name, next)}>{LABELS.nextVolumes}</a>
              </>
            )}
          </p>
        )}
      </div>
      <CardProblems problems={problemsOf(detail, detail, rows)} of={name} whole />
      <CardProvenance job={detail} detail={detail} whole />
    </section>
  );
}
