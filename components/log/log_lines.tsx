import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import type { LogView } from "@/lib/pages/log/log_view_client.ts";
import { watchNearScreen } from "@/lib/pages/browser/on_screen_client.ts";
import { useBatches } from "@/lib/pages/browser/steps_client.ts";
import { formatCount } from "@/lib/pages/locale/figures.ts";
import { formatDuration } from "@/lib/pages/moments.ts";
import {
  isStopped,
  LEVEL_FILTERS,
  type LevelFilter,
  lineText,
  type LogLine as Line,
  summarizeRequests,
} from "@/lib/pages/log/log_lines.ts";
import {
  blocksOf,
  type FoldedRequests,
  hitsWithin,
  type LineSearch,
  linesOf,
  type LogRow,
  MAX_LINE_CHARACTERS,
  type RowBlock,
} from "@/lib/pages/log/log_rows.ts";
import type { LogStage as Stage } from "@/lib/pages/log/run_log.ts";
import {
  formatOffset,
  hitsFigure,
  LOG_FIGURES,
  LOG_LABELS,
  LOG_SENTENCES,
  requestsInShort,
  requestsSentence,
  STAGE_TITLES,
  stageCounts,
  stoppedBy,
} from "@/lib/pages/log/log_sentences.ts";
import { Icon, ToolButton } from "@/components/icon.tsx";

interface LogToolsProps {
  readonly view: LogView;
  readonly counts: Readonly<Record<LevelFilter, number>>;
  /** Whether some stage is folded. */
  readonly isFolded: boolean;
}

/** The filters and the search of a log. */
export function LogTools({ view, counts, isFolded }: LogToolsProps) {
  const search = view.search.value;
  const hasNoHit = !search?.lines.length;
  return (
    <search class="log-tools">
      <div class="log-find">
        <label class="log-field">
          <Icon name="search" />
          <span class="sr">{LOG_LABELS.search}</span>
          <input
            type="search"
            placeholder={LOG_LABELS.search}
            value={view.query.value}
            onInput={({ currentTarget }) => view.setQuery(currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== "Enter") return;
              event.preventDefault();
              view.goToHit(event.shiftKey ? -1 : 1);
            }}
          />
          <output role="status">{search && hitsFigure(search.lines, view.hit.value)}</output>
        </label>
        <ToolButton icon="up" name={LOG_LABELS.previousHit} disabled={hasNoHit} onClick={() => view.goToHit(-1)} />
        <ToolButton icon="down" name={LOG_LABELS.nextHit} disabled={hasNoHit} onClick={() => view.goToHit(1)} />
      </div>
      <fieldset class="segments">
        <legend class="sr">{LOG_LABELS.level}</legend>
        {LEVEL_FILTERS.filter((level) => level !== "debug" || counts.debug > 0).map((level) => (
          <label key={level}>
            <input
              type="radio"
              name="level"
              checked={level === view.filter.value}
              onChange={() => view.setFilter(level)}
            />
            {LOG_LABELS.levels[level]} <span class="count">{formatCount(counts[level])}</span>
          </label>
        ))}
      </fieldset>
      <label class="switch">
        <input
          type="checkbox"
          checked={view.sinceStart.value}
          onChange={({ currentTarget }) => view.sinceStart.value = currentTarget.checked}
        />
        {LOG_LABELS.sinceStart}
      </label>
      <button class="btn" type="button" onClick={() => view.setAllOpen(isFolded)}>
        {isFolded ? LOG_LABELS.unfoldAll : LOG_LABELS.foldAll}
      </button>
    </search>
  );
}

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

/** Requests without a good response that are shown below the sentence of folded ones. */
const MAX_STOPPED = 5;

/** Blocks whose text a browser adds to the page within a few milliseconds. */
const BLOCKS_A_BATCH = 40;

/** How lines are shown. */
export interface LineLook {
  /** Times are shown as those since this one, ms on the log's clock; null: as clock times. */
  readonly since: number | null;
  /** The text that is marked, and the numbers of the lines that have it; null: none. */
  readonly search: LineSearch | null;
  /** Number of the line of the current hit. */
  readonly hit: number | null;
  /** Number of the line that a link has named. */
  readonly marked: number | null;
  /** Everything is shown, as text alone. */
  readonly isPrinting: boolean;
  /** Numbers of the first lines of requests that are unfolded. */
  readonly openFolds: ReadonlySet<number>;
  readonly onFold: (first: number, open: boolean) => void;
  /** The fragment of an address that names a line. */
  readonly linkOf: (line: Line) => string;
}

interface LogLinesProps {
  readonly blocks: readonly RowBlock[];
  readonly look: LineLook;
  /** The first block is on the screen at first. */
  readonly isFirst?: boolean;
}

/**
 * Lines of a run log. Those near the screen are rows with a link, a level and marks; the others are one text for each block,
 * so that the page of a long log stays small while the browser still finds, selects and prints all of it.
 */
function LogLines({ blocks, look, isFirst = false }: LogLinesProps) {
  const batches = useBatches(Math.ceil(blocks.length / BLOCKS_A_BATCH), blocks);
  return (
    <>
      {blocks.map((block, place) => (
        <Block
          key={block.first}
          block={block}
          look={look}
          isFirst={isFirst && place === 0}
          hasText={look.isPrinting || place < batches * BLOCKS_A_BATCH}
        />
      ))}
    </>
  );
}

interface BlockProps {
  readonly block: RowBlock;
  readonly look: LineLook;
  readonly isFirst: boolean;
  /** Its text is in the page although it is not near the screen. */
  readonly hasText: boolean;
}

function Block({ block, look, isFirst, hasText }: BlockProps) {
  const box = useRef<HTMLDivElement>(null);
  const isNear = useSignal(isFirst);
  useEffect(() => {
    const { current } = box;
    return current
      ? watchNearScreen(current, (near) => isNear.value = near || (isNear.value && isInUse(current)))
      : undefined;
  }, []);
  const own = (number: number | null) => number !== null && block.first <= number && number <= block.last;
  const hit = own(look.hit) ? look.hit : null;
  const marked = own(look.marked) ? look.marked : null;
  const hasRows = !look.isPrinting && (isNear.value || hit !== null || marked !== null);
  const { since, isPrinting } = look;
  const content = useMemo(
    () => hasRows ? <Rows rows={block.rows} look={{ ...look, hit, marked }} /> : hasText && textOf(block, look),
    [block, hasRows, hasText, since, isPrinting, ...hasRows ? [look.search, hit, marked, look.openFolds] : []],
  );
  return (
    <div
      ref={box}
      class="block"
      style={{ "--rows": block.rows.length }}
      role={hasRows ? "list" : undefined}
      aria-label={hasRows ? LOG_SENTENCES.linesOf(formatCount(block.first), formatCount(block.last)) : undefined}
    >
      {content}
    </div>
  );
}

/** Whether the focus or a selection is in an element: taking it out of the page would take them away. */
function isInUse(element: Element): boolean {
  const selection = getSelection();
  return element.contains(document.activeElement) ||
    (selection !== null && !selection.isCollapsed && selection.containsNode(element, true));
}

function Rows({ rows, look }: { rows: readonly LogRow[]; look: LineLook }) {
  return (
    <>
      {rows.map((row) =>
        !("requests" in row)
          ? <LogLine key={row.number} line={row} look={look} />
          : row.line === null
          ? <Requests key={row.requests[0].number} requests={row.requests} look={look} />
          : <LineOfRequests key={row.line.number} requests={row.requests} line={row.line} look={look} />
      )}
    </>
  );
}

interface FoldedProps {
  readonly requests: FoldedRequests["requests"];
  readonly look: LineLook;
}

/** How many hits are out of sight in requests that are folded. */
function hiddenHits(requests: readonly Line[], { search, openFolds }: LineLook): string {
  if (!search || openFolds.has(requests[0].number)) return "";
  const count = hitsWithin(search.lines, requests[0].number, requests[requests.length - 1].number);
  return count === 0 ? "" : `, ${LOG_FIGURES.hits(count)}`;
}

/** A line with the requests before it, which say no more than that they were answered. */
function LineOfRequests({ requests, line, look }: FoldedProps & { readonly line: Line }) {
  const [first] = requests;
  const isOpen = look.openFolds.has(first.number);
  const result = useMemo(() => summarizeRequests(requests), [requests]);
  const button = useRef<HTMLButtonElement>(null);
  const top = useRef<number | null>(null);
  // The requests come and go above their line, which stays under the pointer.
  useLayoutEffect(() => {
    if (top.current === null || !button.current) return;
    scrollBy({ top: button.current.getBoundingClientRect().top - top.current, behavior: "instant" });
    top.current = null;
  }, [isOpen]);
  return (
    <>
      {isOpen && requests.map((request) => <LogLine key={request.number} line={request} look={look} />)}
      <LogLine line={line} look={look}>
        <button
          ref={button}
          class="folded"
          type="button"
          tabIndex={-1}
          title={requestsSentence(result)}
          aria-expanded={isOpen}
          onClick={({ currentTarget }) => {
            top.current = currentTarget.getBoundingClientRect().top;
            look.onFold(first.number, !isOpen);
          }}
        >
          {requestsInShort(result)}
          {hiddenHits(requests, look)}
        </button>
      </LogLine>
    </>
  );
}

/** Requests follow one another by the hundred and say little: they are folded to what came of them. */
function Requests({ requests, look }: FoldedProps) {
  const [first] = requests;
  const isOpen = look.openFolds.has(first.number);
  const sentence = useMemo(() => requestsSentence(summarizeRequests(requests)), [requests]);
  const blocks = useMemo(() => isOpen ? blocksOf(requests) : [], [requests, isOpen]);
  const stopped = useMemo(() => requests.filter(isStopped).slice(0, MAX_STOPPED), [requests]);
  return (
    <>
      <div class="line requests" role="listitem">
        <span class="time">{`${timeOf(first, look.since)} `}</span>
        <button
          class="folded"
          type="button"
          tabIndex={-1}
          aria-expanded={isOpen}
          onClick={() => look.onFold(first.number, !isOpen)}
        >
          {sentence}
          {hiddenHits(requests, look)}
        </button>
        {isOpen && (
          <div class="unfolded">
            <LogLines blocks={blocks} look={look} isFirst />
          </div>
        )}
      </div>
      {!isOpen && stopped.map((line) => <LogLine key={line.number} line={line} look={look} />)}
    </>
  );
}

interface LogLineProps {
  readonly line: Line;
  readonly look: LineLook;
  /** Stands at the end of its row. */
  readonly children?: ComponentChildren;
}

function LogLine({ line, look, children }: LogLineProps) {
  const { number, time, level, message, kind } = line;
  const tone = kind === "error" ? " bad" : kind === "warning" ? " warn" : kind === "cut" ? " cut" : "";
  const state = `${number === look.marked ? " marked" : ""}${number === look.hit ? " hit" : ""}${
    children ? " of-requests" : ""
  }`;
  const rest = message.length - MAX_LINE_CHARACTERS;
  const shown = rest > 0 ? message.slice(0, MAX_LINE_CHARACTERS) : message;
  return (
    <div id={`L${number}`} class={`line${tone}${state}${time === null ? " untimed" : ""}`} role="listitem">
      <a
        class="number"
        href={look.linkOf(line)}
        data-number={number}
        aria-label={LOG_LABELS.line(number)}
        aria-current={number === look.marked ? "true" : undefined}
        tabIndex={-1}
      />
      {time !== null && (
        <>
          <span class="time">{`${timeOf(line, look.since)} `}</span>
          <span class="level">{`${level} `}</span>
        </>
      )}
      {look.search ? marked(shown, look.search.pattern) : shown}
      {rest > 0 && <span class="rest">{LOG_SENTENCES.lineShortened(formatCount(rest))}</span>}
      {children}
    </div>
  );
}

function marked(text: string, pattern: RegExp) {
  const parts: ComponentChildren[] = [];
  let end = 0;
  for (const { 0: hit, index } of text.matchAll(pattern)) {
    parts.push(text.slice(end, index), <mark key={index}>{hit}</mark>);
    end = index + hit.length;
  }
  return [...parts, text.slice(end)];
}

function timeOf({ time, at }: Line, since: number | null): string {
  return since === null ? time ?? "" : at === null ? "" : formatOffset(at - since);
}

/** A block as text: in print with the numbers of its lines, and with requests that are folded on the screen. */
function textOf({ rows }: RowBlock, { since, isPrinting }: LineLook): string {
  const text = (line: Line) => {
    const rest = line.message.length - MAX_LINE_CHARACTERS;
    const whole = since === null ? lineText(line) : lineText({ ...line, time: line.time && timeOf(line, since) });
    return rest > 0 ? `${whole.slice(0, -rest)}${LOG_SENTENCES.lineShortened(formatCount(rest))}` : whole;
  };
  return rows.flatMap((row) => {
    if (!("requests" in row)) return [isPrinting ? `${row.number} ${text(row)}` : text(row)];
    if (isPrinting) return linesOf(row).map((line) => `${line.number} ${text(line)}`);
    return row.line !== null
      ? [text(row.line)]
      : [`${timeOf(row.requests[0], since)} ${requestsSentence(summarizeRequests(row.requests))}`];
  }).join("\n");
}
