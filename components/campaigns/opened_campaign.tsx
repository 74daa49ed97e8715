import { CardIdentity, CardProblems } from "./campaign_card.tsx";
import { CardProvenance, CardTotals } from "./open_zones.tsx";
import { VolumeTable } from "./volume_table.tsx";
import type { JobDetail } from "@/lib/campaigns/projection/types.ts";
import { problemsOf } from "@/lib/pages/campaigns/campaign_problems.ts";
import { CARD } from "@/lib/pages/campaigns/campaign_sentences.ts";
import { accentOf } from "@/lib/pages/campaigns/campaign_state.ts";
import { formatCount } from "@/lib/pages/locale/figures.ts";
import type { MomentStyle } from "@/lib/pages/moments.ts";
import { OPEN_CAMPAIGN_ID, openCampaignPath, type OpenRequest } from "@/lib/pages/page_paths.ts";
import { SENTENCES } from "@/lib/pages/page_sentences.ts";

interface OpenedCampaignProps {
  readonly requested: OpenRequest;
  /** The sentence in place of the campaign where it could not be read; null where there is none of that name. */
  readonly answer: { readonly detail: JobDetail } | { readonly problem: string } | null;
  /** ms since 1970 */
  readonly now: number;
}

/** The campaign that the query names, for browsers without scripts: with scripts the list opens its card. */
export function OpenedCampaign({ requested, answer, now }: OpenedCampaignProps) {
  if (answer === null) {
    return <NotOpened>{SENTENCES.noCampaign(requested.namespace, requested.name)}</NotOpened>;
  }
  return (
    <noscript>
      {"detail" in answer
        ? <OpenCampaign detail={answer.detail} offset={requested.offset} style={{ zone: "UTC", now }} />
        : <NotOpened>{answer.problem}</NotOpened>}
    </noscript>
  );
}

function NotOpened({ children }: { readonly children: string }) {
  return <p id={OPEN_CAMPAIGN_ID} class="banner bad" role="alert">{children}</p>;
}

interface OpenCampaignProps {
  readonly detail: JobDetail;
  /** Volumes before the first one shown. */
  readonly offset: number;
  readonly style: MomentStyle;
}

/** One campaign with a page of its volumes, for readers without scripts: nothing in it needs to be folded out. */
function OpenCampaign({ detail, offset, style }: OpenCampaignProps) {
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
