import type { Signal } from "@preact/signals";
import { CARD } from "@/lib/presentation/card_sentences.ts";
import type { NamedCampaign } from "@/lib/presentation/named_campaign.ts";
import { runLogPath } from "@/lib/presentation/page_paths.ts";
import { MAX_PROBLEM_SENTENCES } from "@/lib/presentation/problem_sentences.ts";
import type { Problem } from "@/lib/presentation/problems.ts";
import { RawWords } from "./raw_words.tsx";

interface CardProblemsProps {
  readonly problems: readonly Problem[];
  /** How many there will be once the campaign's detail is read; their space is free until then. */
  readonly expected: number;
  readonly campaign: NamedCampaign;
  /** Whether all are shown; absent: they are, for readers without scripts. */
  readonly expanded?: Signal<boolean>;
  /** Each sentence has one line, so that nothing moves when it comes. */
  readonly folded?: boolean;
  /** Saves the failed volumes; null where there are none, or no scripts. */
  readonly onCsv?: (() => void) | null;
  /** Why they were not saved, or what their file lacks. */
  readonly csvProblem?: string | null;
}

/** What is wrong with a campaign: three sentences, the rest on request. */
export function CardProblems(props: CardProblemsProps) {
  const { problems, expected, campaign, expanded, folded = false, onCsv = null, csvProblem = null } = props;
  const isWhole = expanded?.value ?? true;
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
      {(onCsv || more > 0) && expanded && (
        <div class="problem-tools">
          {more > 0 && (
            <button
              class="btn small needs-scripts"
              type="button"
              aria-expanded={isWhole}
              onClick={() => expanded.value = !isWhole}
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
      {onCsv && <p class="note" role="status">{csvProblem}</p>}
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
