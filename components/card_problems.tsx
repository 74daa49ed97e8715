import { useSignal } from "@preact/signals";
import { LABELS } from "@/lib/presentation/page_sentences.ts";
import { MAX_PROBLEM_SENTENCES } from "@/lib/presentation/problem_sentences.ts";
import type { Problem } from "@/lib/presentation/problems.ts";
import { LogLink } from "./log_link.tsx";

interface CardProblemsProps {
  readonly problems: readonly Problem[];
  /** The campaign's name. */
  readonly of: string;
  /** Everything is shown, for readers without scripts. */
  readonly whole?: boolean;
}

/** What is wrong with a campaign: three sentences, the rest on request. */
export function CardProblems({ problems, of, whole = false }: CardProblemsProps) {
  const all = useSignal(whole);
  if (problems.length === 0) return null;
  const more = problems.length - MAX_PROBLEM_SENTENCES;
  const shown = all.value ? problems : problems.slice(0, MAX_PROBLEM_SENTENCES);
  return (
    <section class="problems" aria-label={LABELS.problemsOf(of)}>
      <ul>
        {shown.map(({ volume, sentence, log }) => (
          <li key={`${volume} ${sentence}`}>
            {volume !== null && <span class="vid">{volume}:</span>} {sentence}{" "}
            {volume !== null && log && (
              <LogLink logUrl={log.logUrl} manifestUrl={log.manifestUrl} live={log.live} of={volume} />
            )}
          </li>
        ))}
      </ul>
      {more > 0 && !whole && (
        <button
          class="btn small"
          type="button"
          aria-expanded={all.value}
          onClick={() => all.value = !all.value}
        >
          {all.value ? LABELS.fewer : LABELS.more(String(more))}
        </button>
      )}
    </section>
  );
}
