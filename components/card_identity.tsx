import type { JobDetail, JobSummary } from "@/lib/campaigns/projection/types.ts";
import type { CardTrouble } from "@/lib/client/card_store.ts";
import { chipsOf, isAtGate } from "@/lib/presentation/campaign_state.ts";
import { CARD } from "@/lib/presentation/card_sentences.ts";
import { formatCount } from "@/lib/presentation/locale/figures.ts";
import { pagesSentence } from "@/lib/presentation/pages_sentence.ts";
import { formatClock, type MomentStyle } from "@/lib/presentation/moments.ts";
import { runLogPath } from "@/lib/presentation/page_paths.ts";
import { isErrorLive } from "@/lib/presentation/problems.ts";
import { waitingWords } from "@/lib/presentation/waiting_words.ts";
import { CampaignTimes } from "./campaign_times.tsx";
import { Chip } from "./chip.tsx";
import { Icon } from "./icon.tsx";
import { Meter } from "./meter.tsx";

/** Volumes from which the sentence of pages may take two lines. */
const MANY_VOLUMES = 1000;

interface CardIdentityProps {
  readonly job: JobSummary;
  readonly detail: JobDetail | null;
  readonly trouble: CardTrouble | null;
  /** The name alone would be ambiguous. */
  readonly spansNamespaces: boolean;
  readonly style: MomentStyle;
  /** What folds the card; null for one that cannot be folded. */
  readonly fold: { readonly isOpen: boolean; readonly controls: string; readonly onFold: () => void } | null;
}

/** Who a campaign is, how far it is, and when it ends: a grid that keeps its size when the detail comes. */
export function CardIdentity({ job, detail, trouble, spansNamespaces, style, fold }: CardIdentityProps) {
  const name = spansNamespaces ? `${job.namespace}/${job.name}` : job.name;
  return (
    <div class="identity" onClick={fold === null ? undefined : (event) => isPlainClick(event) && fold.onFold()}>
      <div class="who">
        <div class="name">
          <h2>
            {fold === null ? name : (
              <button
                class="fold"
                type="button"
                aria-expanded={fold.isOpen}
                aria-controls={fold.controls}
                onClick={fold.onFold}
              >
                <Icon name="fold" />
                <span>{name}</span>
              </button>
            )}
          </h2>
          {chipsOf(job, detail).map((chip) => <Chip key={chip.text} {...chip} />)}
        </div>
        <span class="sub dots">
          <span>{job.pipeline || CARD.noPipeline}</span>
          <span>{CARD.countedVolumes(job.counts.total)}</span>
        </span>
      </div>
      <HowFar job={job} detail={detail} trouble={trouble} zone={style.zone} />
      <CampaignTimes job={job} detail={detail} style={style} />
    </div>
  );
}

/** Whether a click was on neither a control nor a text that was selected by it. */
function isPlainClick({ target }: MouseEvent): boolean {
  const isControl = target instanceof Element && target.closest("a, button") !== null;
  return !isControl && getSelection()?.type !== "Range";
}

type HowFarProps = Pick<CardIdentityProps, "job" | "detail" | "trouble"> & { readonly zone: string };

function HowFar({ job, detail, trouble, zone }: HowFarProps) {
  const { total, done, failed } = job.counts;
  const active = isAtGate(job) ? 0 : job.counts.active;
  const { figure, base, lost } = pagesSentence(job, detail);
  const waiting = waitingWords(job);
  const newest = lost === "" ? null : detail?.lastError;
  return (
    <div class="how">
      <Meter
        parts={[{ count: done, tone: "done" }, { count: failed, tone: "bad" }, { count: active, tone: "run" }]}
        total={total}
        label={CARD.volumesMeter(formatCount(done), formatCount(total)) +
          (failed > 0 ? CARD.meterFailed(formatCount(failed)) : "") +
          (active > 0 ? CARD.meterActive(formatCount(active)) : "")}
      />
      <p class={total >= MANY_VOLUMES ? "figure long" : "figure"}>
        <b>{figure}</b>
        {base}
      </p>
      <p class={`aside dots${waiting && done + failed > 0 ? " long" : ""}`}>
        {waiting && <span title={waiting.raw ?? undefined}>{waiting.text}</span>}
        {lost !== "" && <span>{lost}</span>}
        {detail && newest?.page && (
          <span>
            <a
              href={runLogPath({
                logUrl: newest.logUrl,
                manifestUrl: null,
                live: isErrorLive(job, detail, newest.volume),
              }, job)}
              title={`${newest.volume}: ${newest.error}`}
            >
              {CARD.newestLost(newest.page)}
            </a>
          </span>
        )}
        {trouble?.asOf && <span>{CARD.asOf(formatClock(trouble.asOf, zone))}</span>}
      </p>
    </div>
  );
}
