import { useMemo } from "preact/hooks";

import type { JobDetail, JobSummary } from "@/lib/campaigns/projection/types.ts";
import type { CardStore, CardTrouble } from "@/lib/pages/campaigns/card_store_client.ts";
import { saveFile } from "@/lib/pages/browser/save_file_client.ts";
import {
  isErrorLive,
  MAX_PROBLEM_SENTENCES,
  type Problem,
  problemsOf,
  waitingWords,
} from "@/lib/pages/campaigns/campaign_problems.ts";
import { pagesSentence, timesOf, type TimeWords } from "@/lib/pages/campaigns/campaign_progress.ts";
import { CARD } from "@/lib/pages/campaigns/campaign_sentences.ts";
import { accentOf, chipsOf, isAtGate } from "@/lib/pages/campaigns/campaign_state.ts";
import { SCRIPT_FAILURE } from "@/lib/pages/frame_sentences.ts";
import { formatCount } from "@/lib/pages/locale/figures.ts";
import { formatClock, formatFull, type MomentStyle } from "@/lib/pages/moments.ts";
import { type NamedCampaign, openCampaignPath, runLogPath } from "@/lib/pages/page_paths.ts";
import { csvName, volumesCsv, withNamedRows } from "@/lib/pages/campaigns/volume_filter.ts";
import { Chip, RawWords } from "@/components/chip.tsx";
import { Icon } from "@/components/icon.tsx";
import { Meter } from "@/components/meter.tsx";
import type { OPEN_ZONES } from "./open_zones.tsx";

interface CampaignCardProps {
  readonly card: CardStore;
  readonly open: boolean;
  /** The parts of an open card; null until their code is loaded, `failed` if loading failed. */
  readonly zones: typeof OPEN_ZONES | "failed" | null;
  /** The name alone would be ambiguous. */
  readonly spansNamespaces: boolean;
  readonly style: MomentStyle;
  readonly onFold: () => void;
}

/** One campaign: identity and state; body, while open; problems; provenance. */
export function CampaignCard({ card, open, zones, spansNamespaces, style, onFold }: CampaignCardProps) {
  const job = card.summary.value;
  const detail = card.detail.value;
  const volumes = card.volumes.value;
  const { hasAllProblems, hasPipeline } = card.view.value;
  const shownZones = open && zones !== "failed" ? zones : null;
  const body = `campaign-${job.namespace}-${job.name}`;
  const shown = useMemo(
    () => open ? new Set(withNamedRows(volumes, detail).map(({ id }) => id)) : null,
    [open, volumes, detail],
  );
  const saveFailed = async () => {
    const failed = await card.failedVolumes();
    if (failed) saveFile(csvName(job.name, CARD.failedFile), volumesCsv(failed), "text/csv");
  };
  return (
    <article class={`card ${accentOf(job, detail)}`} data-campaign={`${job.namespace}/${job.name}`}>
      <CardIdentity
        job={job}
        detail={detail}
        trouble={card.trouble.value}
        spansNamespaces={spansNamespaces}
        style={style}
        fold={{ isOpen: open, controls: body, onFold }}
      />
      <div id={body} class="body" hidden={!open}>
        {shownZones && <shownZones.Body card={card} style={style} />}
        {open && zones === "failed" && (
          <p class="problem" role="alert">
            {SCRIPT_FAILURE.sentence}{" "}
            <button class="btn small" type="button" onClick={() => location.reload()}>{SCRIPT_FAILURE.tryAgain}</button>
          </p>
        )}
        {job.counts.total > 0 && (
          <p class="without-scripts">
            <a href={openCampaignPath(job.namespace, job.name)}>{CARD.toVolumesOf(job.name)}</a>
          </p>
        )}
      </div>
      <CardProblems
        {...problemsOf(job, detail, shown)}
        campaign={job}
        folded={!open}
        isExpanded={hasAllProblems}
        onExpand={() => card.look({ hasAllProblems: !hasAllProblems })}
        onCsv={job.counts.failed > 0 || detail?.failures.length ? saveFailed : null}
        csvProblem={card.failedProblem.value}
      />
      {shownZones && (
        <shownZones.Provenance
          job={job}
          detail={detail}
          isExpanded={hasPipeline}
          onExpand={() => card.look({ hasPipeline: !hasPipeline })}
        />
      )}
    </article>
  );
}

/** Volumes from which the sentence of pages may take two lines. */
const MANY_VOLUMES = 1000;

interface CardIdentityProps {
  readonly job: JobSummary;
  readonly detail: JobDetail | null;
  readonly trouble: CardTrouble | null;
  /** The name alone would be ambiguous. */
  readonly spansNamespaces: boolean;
  readonly style: MomentStyle;
  /** State and handler of the fold button; null for a card without one. */
  readonly fold: { readonly isOpen: boolean; readonly controls: string; readonly onFold: () => void } | null;
}

/** Who a campaign is, how far it is, and when it ends: a grid that keeps its size when the detail comes. */
export function CardIdentity({ job, detail, trouble, spansNamespaces, style, fold }: CardIdentityProps) {
  const name = spansNamespaces ? `${job.namespace}/${job.name}` : job.name;
  const { main, sub } = timesOf(job, detail, style.now);
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
      <div class="when">
        <span>
          <Words words={main} zone={style.zone} />
        </span>
        <span class="sub">
          <Words words={sub} zone={style.zone} />
        </span>
      </div>
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

interface CardProblemsProps {
  readonly problems: readonly Problem[];
  /** How many there will be once the campaign's detail is read; their space is free until then. */
  readonly expected: number;
  readonly campaign: NamedCampaign;
  /** Whether all are shown; absent: they are, for readers without scripts. */
  readonly isExpanded?: boolean;
  /** Shows all, or only the first ones. */
  readonly onExpand?: () => void;
  /** Each sentence has one line, so that nothing moves when it comes. */
  readonly folded?: boolean;
  /** Saves the failed volumes; null where there are none, or no scripts. */
  readonly onCsv?: (() => void) | null;
  /** Why they were not saved, or what their file lacks. */
  readonly csvProblem?: string | null;
}

/** The problems of a campaign: three sentences, the others on request. */
export function CardProblems(props: CardProblemsProps) {
  const { problems, expected, campaign, isExpanded: isWhole = true, folded = false, onCsv = null } = props;
  if (expected === 0) return null;
  const more = Math.max(expected, problems.length) - MAX_PROBLEM_SENTENCES;
  const shown = isWhole ? problems : problems.slice(0, MAX_PROBLEM_SENTENCES);
  const free = Math.min(expected, MAX_PROBLEM_SENTENCES) - shown.length;
  return (
    <section class={`problems${folded && !isWhole ? " folded" : ""}`} aria-label={CARD.problemsOf(campaign.name)}>
      <ul>
        {shown.map((problem) => (
          <ProblemItem key={`${problem.volume} ${problem.sentence}`} problem={problem} campaign={campaign} />
        ))}
        {Array.from({ length: Math.max(0, free) }, (_, place) => <li key={place} aria-hidden="true">&nbsp;</li>)}
      </ul>
      {(onCsv || more > 0) && props.onExpand && (
        <div class="problem-tools">
          {more > 0 && (
            <button
              class="btn small needs-scripts"
              type="button"
              aria-expanded={isWhole}
              onClick={props.onExpand}
            >
              {isWhole ? CARD.fewer : CARD.more(String(more))}
            </button>
          )}
          {onCsv && (
            <button class="btn small needs-scripts" type="button" onClick={onCsv}>
              {CARD.failedAsCsv}
              <span class="sr">({campaign.name})</span>
            </button>
          )}
        </div>
      )}
      {onCsv && <p class="note" role="status">{props.csvProblem}</p>}
    </section>
  );
}

/** A failed volume's name leads to its run log. */
function ProblemItem({ problem, campaign }: { problem: Problem; campaign: NamedCampaign }) {
  const { volume, sentence, raw, isTrouble, log } = problem;
  const kind = isTrouble ? "lead trouble" : volume === null ? "lead" : undefined;
  return (
    <li class={kind} title={raw ?? undefined}>
      {volume !== null && log && (
        <>
          <a
            class="vid"
            href={runLogPath(log, campaign)}
            aria-label={CARD.logOf(volume)}
          >
            {volume}
          </a>
          {": "}
        </>
      )}
      {sentence}
      <RawWords text={raw} />
    </li>
  );
}
