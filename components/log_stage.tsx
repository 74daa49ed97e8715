import { STAGE_TITLES, stageCounts, stoppedBy } from "@/lib/presentation/run_log/words.ts";
import { formatDuration } from "@/lib/presentation/durations.ts";
import type { RowBlock } from "@/lib/presentation/run_log/rows.ts";
import type { LogStage as Stage } from "@/lib/presentation/run_log/run_log.ts";
import { Icon } from "./icon.tsx";
import { type LineLook, LogLines } from "./log_lines.tsx";

interface LogStageProps {
  readonly stage: Stage;
  /** Its lines that are shown. */
  readonly blocks: readonly RowBlock[];
  readonly look: LineLook;
  readonly isOpen: boolean;
  /** It is the first one that is open. */
  readonly isFirst: boolean;
  readonly onOpen: (open: boolean) => void;
}

/** One stage of a run: what it took, and its lines. Folded, it still says what stopped it. */
export function LogStage({ stage, blocks, look, isOpen, isFirst, onOpen }: LogStageProps) {
  const tone = stage.errors > 0 ? "bad" : stage.warnings > 0 ? "warn" : "";
  const stopped = isOpen ? null : stoppedBy(stage);
  return (
    <details
      class={`stage ${tone}`}
      open={isOpen || look.isPrinting}
      onToggle={({ currentTarget: { open } }) => {
        if (!look.isPrinting && open !== isOpen) onOpen(open);
      }}
    >
      <summary>
        <Icon name="fold" />
        <h2>{STAGE_TITLES[stage.name]}</h2>
        <span class="counts">{stageCounts(stage)}</span>
        <span class="took">{stage.seconds !== null && formatDuration(stage.seconds)}</span>
        {stopped !== null && <span class="stopped">{stopped}</span>}
      </summary>
      <div class="lines">
        <LogLines blocks={blocks} look={look} isFirst={isFirst} />
      </div>
    </details>
  );
}
