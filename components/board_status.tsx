import { BOARD_LABELS, BOARD_SENTENCES } from "@/lib/presentation/board_sentences.ts";
import { formatClock } from "@/lib/presentation/moments.ts";
import { LABELS, SENTENCES } from "@/lib/presentation/page_sentences.ts";

interface BoardStatusProps {
  /** Why the list is not the newest, or why there is none; null: it is. */
  readonly outage: string | null;
  /** When the list is read again after an outage, ms since 1970. */
  readonly nextAt: number | null;
  /** The last good read, ms since 1970. */
  readonly readAt: number | null;
  /** Since when the cluster has not answered the server, ms since 1970. */
  readonly staleSince: number | null;
  /** Campaigns that cannot be read. */
  readonly skipped: number;
  readonly drifted: boolean;
  readonly reading: boolean;
  readonly zone: string;
  /** What is shown, where nothing is wrong. */
  readonly summary: string;
  /** Leads to the list without its filter; null where no filter is set. */
  readonly showAll: { readonly path: string; readonly label: string } | null;
  readonly onTry: () => void;
  readonly onSort: () => void;
  readonly onHelp: () => void;
}

/** The line between the filter and the cards: how old they are, or what is wrong. It has the same height in every state. */
export function BoardStatus(props: BoardStatusProps) {
  const { outage, nextAt, readAt, staleSince, skipped, drifted, reading, zone, summary, showAll } = props;
  const clock = (ms: number | null) => ms === null ? null : formatClock(ms, zone);
  const isStale = outage === null && staleSince !== null;
  const isSkipped = outage === null && !isStale && skipped > 0;
  return (
    <div class={`board-status ${outage !== null ? "bad" : isStale || isSkipped ? "warn" : ""}`}>
      <p>
        {outage !== null && <span role="alert">{outage}</span>}
        {outage !== null && BOARD_SENTENCES.outage(clock(readAt), clock(nextAt))}
        {isStale && <span role="status">{BOARD_SENTENCES.stale(formatClock(staleSince, zone))}</span>}
        {isSkipped && <span role="status">{SENTENCES.skippedCampaigns(skipped)}</span>}
        {outage === null && !isStale && !isSkipped && (
          <span class="dots">
            <span>{summary}</span>
            {showAll && (
              <span>
                <a href={showAll.path}>{showAll.label}</a>
              </span>
            )}
            {readAt !== null && (
              <span>
                {LABELS.updated} <span class="clock">{clock(readAt)}</span>
                <span class="without-scripts">{` ${LABELS.timesAreUtc}`}</span>
              </span>
            )}
          </span>
        )}
      </p>
      <div class="needs-scripts">
        {outage !== null
          ? (
            <button class="btn small" type="button" aria-disabled={reading} onClick={() => reading || props.onTry()}>
              {reading ? BOARD_LABELS.trying : BOARD_LABELS.tryNow}
            </button>
          )
          : (
            <button
              class={`btn small ${drifted ? "" : "unseen"}`}
              type="button"
              title={SENTENCES.orderOfLastVisit}
              onClick={props.onSort}
            >
              {LABELS.sortAgain}
            </button>
          )}
        <button class="btn small keys" type="button" onClick={props.onHelp}>{BOARD_LABELS.shortcuts}</button>
      </div>
    </div>
  );
}
