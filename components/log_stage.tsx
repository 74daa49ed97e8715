import { LABELS } from "@/lib/presentation/page_sentences.ts";
import type { LineKind, LogLine as Line } from "@/lib/presentation/run_log/lines.ts";
import type { LogFold, LogStage as Stage } from "@/lib/presentation/run_log/run_log.ts";
import { foldWords, STAGE_TITLES, stageFigures } from "@/lib/presentation/run_log/words.ts";

/** Lines of one kind that are shown without folding them. */
const MAX_PLAIN_LINES = 3;

/** One stage of a run: what it took, and its lines. `open`: at first; then the reader decides. */
export function LogStage({ stage, open }: { stage: Stage; open: boolean }) {
  const tone = stage.errors > 0 ? "bad" : stage.warnings > 0 ? "warn" : "";
  return (
    <details class={`stage ${tone}`} open={open}>
      <summary>
        <h2>{STAGE_TITLES[stage.name]}</h2> <span class="figure">{stageFigures(stage)}</span>
      </summary>
      <div class="lines" role="list">
        {stage.folds.map((fold) => <Fold key={fold.lines[0].number} fold={fold} />)}
      </div>
    </details>
  );
}

/** Requests follow one another by the hundred and say little: they are folded. */
function Fold({ fold }: { fold: LogFold }) {
  const lines = fold.lines.map((line) => <LogLine key={line.number} line={line} kind={fold.kind} />);
  if (fold.kind !== "http" || lines.length <= MAX_PLAIN_LINES) return <>{lines}</>;
  return (
    <div role="listitem">
      <details class="fold-of-lines">
        <summary>{foldWords(fold.kind, lines.length)}</summary>
        <div role="list">{lines}</div>
      </details>
    </div>
  );
}

function LogLine({ line: { number, time, level, message }, kind }: { line: Line; kind: LineKind }) {
  const tone = kind === "error" ? "bad" : kind === "warning" ? "warn" : "";
  return (
    <div id={`L${number}`} class={`line ${tone}`} role="listitem">
      <a href={`#L${number}`} aria-label={LABELS.line(number)}>{number}</a>
      <span class="time">{time}</span>
      <span class="level">{level}</span>
      <span class="message">{message}</span>
    </div>
  );
}
