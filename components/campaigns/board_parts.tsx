import {
  type CampaignFilter,
  type CampaignOverview,
  FIRST_CARDS,
  type JointPace,
  type ListAddress,
  listPath,
  REAPED_PAGE,
  SEGMENTS,
  SORTS,
  withOlder,
} from "@/lib/pages/campaigns/campaign_filter.ts";
import {
  BOARD_LABELS,
  BOARD_SENTENCES,
  FIGURE_WORDS,
  SEGMENT_WORDS,
  SORT_WORDS,
} from "@/lib/pages/campaigns/campaign_sentences.ts";
import { onPlainClick } from "@/lib/pages/browser/focus_client.ts";
import type { BoardStore } from "@/lib/pages/campaigns/board_store_client.ts";
import { formatCount } from "@/lib/pages/locale/figures.ts";
import { formatClock, formatEnd, formatFull, type MomentStyle } from "@/lib/pages/moments.ts";
import { LABELS, SENTENCES } from "@/lib/pages/page_sentences.ts";
import { Figure } from "@/components/figure.tsx";
import { Icon } from "@/components/icon.tsx";

/** Introduces Stackroom at a first visit. After it was closed, a script hides it before the first paint. */
export function Introduction({ onClose }: { onClose: () => void }) {
  return (
    <aside class="introduction" aria-label={BOARD_LABELS.introduction}>
      <p>{BOARD_SENTENCES.introduction}</p>
      <button
        class="btn square needs-scripts"
        type="button"
        aria-label={BOARD_LABELS.closeIntroduction}
        title={BOARD_LABELS.closeIntroduction}
        onClick={onClose}
      >
        <Icon name="close" />
      </button>
    </aside>
  );
}

interface BoardFiguresProps {
  readonly overview: CampaignOverview;
  readonly pace: JointPace;
  readonly style: MomentStyle;
}

/** The figures of all campaigns together. Its four figures have their space before they are known. */
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
      <Figure label={FIGURE_WORDS.troubled(troubled)} tone={troubled > 0 ? "troubled" : undefined}>
        {formatCount(troubled)}
      </Figure>
      <Figure label={FIGURE_WORDS.running(activeVolumes, runningTroubled)}>{formatCount(running)}</Figure>
      <Figure label={FIGURE_WORDS.pagesPerMinute(!runs || pagesPerMinute !== null, pace)} title={partly}>
        {!runs
          ? "0"
          : pagesPerMinute === null
          ? BOARD_LABELS.unknown
          : atLeast + formatCount(Math.round(pagesPerMinute))}
      </Figure>
      <Figure label={FIGURE_WORDS.end(!runs || end !== null, pace)} title={partly}>
        {end === null ? BOARD_LABELS.unknown : (
          <time dateTime={end} title={formatFull(end, style.zone)}>
            {atLeast}
            {formatEnd(end, new Date(style.now).toISOString(), style)}
          </time>
        )}
      </Figure>
    </dl>
  );
}

interface BoardFilterProps {
  readonly address: ListAddress;
  readonly overview: CampaignOverview;
  readonly onChange: (address: ListAddress) => void;
}

/** Narrows the list by state, pipeline, namespace and text, and orders it: a form that works without scripts too. */
export function BoardFilter({ address, overview, onChange }: BoardFilterProps) {
  const { filter, sort } = address;
  const choose = (change: Partial<CampaignFilter>) => onChange({ ...address, filter: { ...filter, ...change } });
  return (
    <search>
      <form
        class="filters"
        method="get"
        action="/"
        aria-label={BOARD_LABELS.filter}
        onSubmit={(event) => event.preventDefault()}
      >
        <fieldset class="segments">
          <legend class="sr">{LABELS.filterByState}</legend>
          {SEGMENTS.map((name) => (
            <label key={name}>
              <input
                type="radio"
                name="state"
                value={name}
                checked={name === filter.segment}
                onChange={() => choose({ segment: name })}
              />
              {SEGMENT_WORDS[name]} <span class="count">{formatCount(overview.segments[name])}</span>
            </label>
          ))}
        </fieldset>
        <div class="choices">
          <Choice
            name="pipeline"
            label={BOARD_LABELS.pipeline}
            any={BOARD_LABELS.anyPipeline}
            options={overview.pipelines}
            chosen={filter.pipeline}
            onChoose={(pipeline) => choose({ pipeline })}
          />
          <Choice
            name="namespace"
            label={BOARD_LABELS.namespace}
            any={BOARD_LABELS.anyNamespace}
            options={overview.namespaces}
            chosen={filter.namespace}
            onChoose={(namespace) => choose({ namespace })}
          />
          <select
            name="sort"
            aria-label={BOARD_LABELS.order}
            value={sort}
            onChange={({ currentTarget }) => {
              const chosen = SORTS.find((name) => name === currentTarget.value);
              if (chosen) onChange({ ...address, sort: chosen });
            }}
          >
            {SORTS.map((name) => <option key={name} value={name}>{SORT_WORDS[name]}</option>)}
          </select>
        </div>
        <input
          type="search"
          name="q"
          autocomplete="off"
          aria-label={LABELS.filterByText}
          placeholder={LABELS.filterByText}
          value={filter.text}
          onInput={(event) => choose({ text: event.currentTarget.value })}
        />
        {address.reaped > REAPED_PAGE && <input type="hidden" name="reaped" value={address.reaped} />}
        <button class="btn without-scripts" type="submit">{BOARD_LABELS.apply}</button>
      </form>
    </search>
  );
}

interface ChoiceProps {
  readonly name: string;
  readonly label: string;
  /** Name of the choice of all. */
  readonly any: string;
  readonly options: readonly string[];
  /** "": all. */
  readonly chosen: string;
  readonly onChoose: (option: string) => void;
}

/** A choice of one option or all. Not rendered for fewer than two options. */
function Choice({ name, label, any, options, chosen, onChoose }: ChoiceProps) {
  // The address may have an option that no longer exists.
  const all = chosen === "" || options.includes(chosen) ? options : [...options, chosen];
  if (all.length < 2) return null;
  return (
    <select
      name={name}
      aria-label={label}
      value={chosen}
      onChange={({ currentTarget }) => onChoose(currentTarget.value)}
    >
      <option value="">{any}</option>
      {all.map((option) => <option key={option} value={option}>{option}</option>)}
    </select>
  );
}

interface BoardStatusProps {
  readonly board: BoardStore;
  /** Why the list is not the newest, or why there is none; null: it is. */
  readonly outage: string | null;
  readonly zone: string;
  /** Shown where nothing is wrong. */
  readonly summary: string;
  /** Leads to the list without its filter; null where no filter is set. */
  readonly showAll: { readonly path: string; readonly label: string } | null;
  readonly onHelp: () => void;
}

/** The line between the filter and the cards: age of the list, or its problem. It has the same height in every state. */
export function BoardStatus({ board, outage, zone, summary, showAll, onHelp }: BoardStatusProps) {
  const readAt = board.readAt.value;
  const staleSince = board.staleSince.value;
  const skipped = board.skipped.value;
  const reading = board.reading.value;
  const clock = (ms: number | null) => ms === null ? null : formatClock(ms, zone);
  const isStale = outage === null && staleSince !== null;
  const isSkipped = outage === null && !isStale && skipped > 0;
  return (
    <div class={`board-status ${outage !== null ? "bad" : isStale || isSkipped ? "warn" : ""}`}>
      <p>
        {outage !== null && <span role="alert">{outage}</span>}
        {outage !== null && BOARD_SENTENCES.outage(clock(readAt), clock(board.trouble.value?.nextAt ?? null))}
        {isStale && <span role="status">{BOARD_SENTENCES.stale(formatClock(staleSince, zone))}</span>}
        {isSkipped && <span role="status">{BOARD_SENTENCES.skippedCampaigns(skipped)}</span>}
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
            <button class="btn small" type="button" aria-disabled={reading} onClick={() => reading || board.readNow()}>
              {reading ? BOARD_LABELS.trying : BOARD_LABELS.tryNow}
            </button>
          )
          : (
            <button
              class={`btn small ${board.drifted.value ? "" : "unseen"}`}
              type="button"
              title={SENTENCES.orderOfLastVisit}
              onClick={() => board.sortAgain()}
            >
              {LABELS.sortAgain}
            </button>
          )}
        <button class="btn small keys" type="button" onClick={onHelp}>{BOARD_LABELS.shortcuts}</button>
      </div>
    </div>
  );
}

interface OlderLinkProps {
  readonly board: BoardStore;
  /** Campaigns before the first one shown, for readers without scripts. */
  readonly from: number;
  readonly onShow: () => void;
}

/** Adds the next older campaigns to the list: by its address without scripts, and in a new tab. */
export function OlderLink({ board, from, onShow }: OlderLinkProps) {
  const older = board.older.value;
  const loading = board.loadingOlder.value;
  if (older === 0) return null;
  return (
    <p class="older">
      <a
        class="btn"
        href={listPath(withOlder(board.address), from)}
        aria-disabled={loading}
        onClick={onPlainClick(() => loading || onShow())}
      >
        {loading
          ? LABELS.loading
          : LABELS.olderCampaigns(formatCount(Math.min(REAPED_PAGE, older)), formatCount(older))}
      </a>
    </p>
  );
}

interface PageLinksProps {
  readonly address: ListAddress;
  /** Campaigns before the first one shown. */
  readonly from: number;
  /** Campaigns that this page shows. */
  readonly sent: number;
  readonly matching: number;
}

/** Pagination of a long list without scripts. */
export function PageLinks({ address, from, sent, matching }: PageLinksProps) {
  const next = from + sent;
  if (from === 0 && next >= matching) return null;
  return (
    <nav class="without-scripts page-links" aria-label={BOARD_LABELS.pages}>
      {from > 0 && <a href={listPath(address, Math.max(0, from - FIRST_CARDS))}>{BOARD_LABELS.previousPage}</a>}
      {next < matching && <a href={listPath(address, next)}>{BOARD_LABELS.nextPage}</a>}
    </nav>
  );
}
