import type { JobDetail, JobSummary, VolumeView } from "@/lib/campaigns/projection/types.ts";
import { type CardTrouble, VOLUMES_PAGE } from "@/lib/client/card_store.ts";
import { accentOf, chipsOf, isSettled, isWaiting } from "@/lib/presentation/campaign_state.ts";
import { formatCount, pagesFigure } from "@/lib/presentation/figures.ts";
import { formatClock, type MomentStyle } from "@/lib/presentation/moments.ts";
import { openCampaignPath } from "@/lib/presentation/page_paths.ts";
import { LABELS, SENTENCES } from "@/lib/presentation/page_sentences.ts";
import { problemsOf } from "@/lib/presentation/problems.ts";
import { CardProblems } from "./card_problems.tsx";
import { CardProvenance } from "./card_provenance.tsx";
import { CardTotals } from "./card_totals.tsx";
import { Chip } from "./chip.tsx";
import { Icon } from "./icon.tsx";
import { Moment } from "./moment.tsx";
import { VolumeTable } from "./volume_table.tsx";

/** Rows that stand in for volumes before they are read. */
const MAX_PLACEHOLDERS = 20;

interface CampaignCardProps {
  readonly job: JobSummary;
  readonly detail: JobDetail | null;
  readonly volumes: readonly VolumeView[];
  /** Volumes that are not loaded. */
  readonly remaining: number;
  readonly loadingMore: boolean;
  readonly trouble: CardTrouble | null;
  readonly open: boolean;
  /** The name alone would be ambiguous. */
  readonly spansNamespaces: boolean;
  readonly style: MomentStyle;
  readonly onFold: () => void;
  readonly onLoadMore: () => void;
}

/** One campaign: identity and state; body, while open; problems; provenance. */
export function CampaignCard(props: CampaignCardProps) {
  const { job, detail, volumes, open, style } = props;
  const body = `campaign-${job.namespace}-${job.name}`;
  const rows = new Set(open ? volumes.map(({ id }) => id) : []);
  return (
    <article class={`card ${accentOf(job, detail)}`} data-campaign={`${job.namespace}/${job.name}`}>
      <div class="identity">
        <h2>
          <button class="fold" type="button" aria-expanded={open} aria-controls={body} onClick={props.onFold}>
            <Icon name="fold" />
            <span>{props.spansNamespaces ? `${job.namespace}/${job.name}` : job.name}</span>
          </button>
        </h2>
        <span class="flex flex-wrap gap-1">
          {chipsOf(job, detail).map((chip) => <Chip key={chip.text} {...chip} />)}
        </span>
        {!open && <Figure {...props} />}
        <Span job={job} style={style} />
      </div>
      <div id={body} class="body" hidden={!open}>
        <CardTotals job={job} detail={detail} />
        {open && <Volumes {...props} />}
        {job.counts.total > 0 && (
          <p class="without-scripts">
            <a href={openCampaignPath(job.namespace, job.name)}>{LABELS.toVolumesOf(job.name)}</a>
          </p>
        )}
      </div>
      <CardProblems problems={problemsOf(job, detail, rows)} of={job.name} />
      <div class="provenance-of" hidden={!open}>
        <CardProvenance job={job} detail={detail} />
      </div>
    </article>
  );
}

/** What a folded card says of its progress. */
function Figure({ job, detail, trouble, style }: CampaignCardProps) {
  if (job.phase === "Queued") return <span class="figure">{waitingWords(job)}</span>;
  const asOf = trouble?.asOf ? ` · ${LABELS.asOf(formatClock(trouble.asOf, style.zone))}` : "";
  return <span class="figure needs-scripts">{pagesFigure(detail)}{asOf}</span>;
}

function Span({ job, style }: { job: JobSummary; style: MomentStyle }) {
  const { createdAt, finishedAt } = job;
  const isOpenEnded = finishedAt === null && !isSettled(job) && !isWaiting(job);
  return (
    <span class="when">
      {createdAt !== null && <Moment at={createdAt} style={style} />}
      {finishedAt !== null && (
        <>
          {" → "}
          <Moment at={finishedAt} since={createdAt ?? undefined} style={style} />
        </>
      )}
      {isOpenEnded && " → …"}
    </span>
  );
}

function Volumes(props: CampaignCardProps) {
  const { job, detail, volumes, remaining, trouble, style } = props;
  const isRead = detail !== null && volumes.length > 0;
  const missing = detail !== null && volumes.length === 0 && detail.volumes.length === 0;
  const placeholders = isRead || trouble || missing ? 0 : Math.min(job.counts.total, MAX_PLACEHOLDERS);
  return (
    <>
      {trouble && (
        <p class="problem" role="alert">
          {trouble.sentence}
          {trouble.asOf !== null && ` ${LABELS.figuresAreOf(formatClock(trouble.asOf, style.zone))}`}
        </p>
      )}
      {missing && job.counts.total > 0
        ? <p class="note">{SENTENCES.volumesGone}</p>
        : (isRead || placeholders > 0) && <VolumeTable job={job} volumes={volumes} placeholders={placeholders} />}
      {isRead && remaining > 0 && (
        <div class="flex justify-center pt-3 pb-1">
          <button class="btn" type="button" disabled={props.loadingMore} onClick={props.onLoadMore}>
            {props.loadingMore
              ? LABELS.loading
              : LABELS.moreVolumes(formatCount(Math.min(VOLUMES_PAGE, remaining)), formatCount(remaining))}
          </button>
        </div>
      )}
    </>
  );
}

function waitingWords({ waiting, warmup }: JobSummary): string {
  if (warmup.phase !== "succeeded") return LABELS.waitsForWarmup;
  // A Job that is held back says no more than that; a queue says what it waits for.
  return waiting && waiting.reason !== "JobSuspended" ? LABELS.waitsFor(waiting.reason) : LABELS.waitsForTurn;
}
