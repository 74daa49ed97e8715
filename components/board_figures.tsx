import { BOARD_LABELS, BOARD_SENTENCES, FIGURE_WORDS } from "@/lib/presentation/board_sentences.ts";
import type { CampaignOverview } from "@/lib/presentation/campaign_overview.ts";
import { formatCount } from "@/lib/presentation/locale/figures.ts";
import type { JointPace } from "@/lib/presentation/joint_pace.ts";
import { formatEnd, formatFull, type MomentStyle } from "@/lib/presentation/moments.ts";

interface BoardFiguresProps {
  readonly overview: CampaignOverview;
  readonly pace: JointPace;
  readonly style: MomentStyle;
}

/** What all campaigns together do at the moment. Its four figures have their space before they are known. */
export function BoardFigures({ overview, pace, style }: BoardFiguresProps) {
  const { troubled, running, activeVolumes, runningTroubled, runningHeld } = overview;
  const { pagesPerMinute, endsAt } = pace;
  const isWhole = pace.counted === pace.of;
  const atLeast = isWhole ? "" : "≥ ";
  const partly = isWhole && runningHeld === 0 ? undefined : BOARD_SENTENCES.notCounted;
  const runs = pace.of > 0;
  const end = endsAt === null ? null : new Date(Math.max(endsAt, style.now)).toISOString();
  return (
    <dl class="strip" aria-label={BOARD_LABELS.figures}>
      <div>
        <dt>{FIGURE_WORDS.troubled(troubled)}</dt>
        <dd class={troubled > 0 ? "troubled" : undefined}>{formatCount(troubled)}</dd>
      </div>
      <div>
        <dt>{FIGURE_WORDS.running(activeVolumes, runningTroubled)}</dt>
        <dd>{formatCount(running)}</dd>
      </div>
      <div title={partly}>
        <dt>{FIGURE_WORDS.pagesPerMinute(!runs || pagesPerMinute !== null, pace)}</dt>
        <dd>
          {!runs
            ? "0"
            : pagesPerMinute === null
            ? BOARD_LABELS.unknown
            : atLeast + formatCount(Math.round(pagesPerMinute))}
        </dd>
      </div>
      <div title={partly}>
        <dt>{FIGURE_WORDS.end(!runs || end !== null, pace)}</dt>
        <dd>
          {end === null ? BOARD_LABELS.unknown : (
            <time dateTime={end} title={formatFull(end, style.zone)}>
              {atLeast}
              {formatEnd(end, new Date(style.now).toISOString(), style)}
            </time>
          )}
        </dd>
      </div>
    </dl>
  );
}
