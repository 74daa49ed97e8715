import { render } from "preact";
import { useLayoutEffect, useMemo, useRef } from "preact/hooks";

import { goByKey, moveStop } from "@/lib/client/roving_stop.ts";
import { confidenceWords } from "@/lib/presentation/page_text_words.ts";
import { VIEWER_LABELS } from "@/lib/presentation/viewer_sentences.ts";
import type { TextLine } from "@/lib/presentation/viewer_text.ts";
import type { LineMark, LineMarks } from "@/lib/presentation/volume_search/line_marks.ts";

/** Lines that a browser renders within a few milliseconds. */
export const LINES_A_GROUP = 100;
/** What the arrows go through. */
const ENTRY = "button";

interface TextLinesProps {
  /** Of the canvas. */
  readonly index: number;
  readonly lines: readonly TextLine[];
  /** Groups of lines that are rendered, from the first on. */
  readonly groups: number;
  /** A line whose group is rendered as well; null: none. */
  readonly wanted: number | null;
  /** Place of the line that is lit; null: none. */
  readonly lit: number | null;
  readonly marks: LineMarks;
  readonly onHover: (line: number | null) => void;
  readonly onLine: (line: TextLine) => void;
}

/**
 * The lines of a page, in lists that are rendered one after the other. All of them are in the document in the end, so that
 * the browser finds and copies any line; those out of view are not laid out. One stop of the Tab key leads into them.
 */
export function TextLines({ index, lines, groups, wanted, lit, marks, onHover, onLine }: TextLinesProps) {
  const count = Math.ceil(lines.length / LINES_A_GROUP);
  const wantedGroup = wanted === null ? -1 : groupOf(wanted);
  const marksOfGroups = useMemo(() => byGroup(marks), [marks]);
  const places = Array.from({ length: count }, (_, place) => place)
    .filter((place) => place < groups || place === wantedGroup);
  return (
    <div
      onPointerOver={({ target }) => onHover(lineOf(target))}
      onPointerLeave={() => onHover(null)}
      onFocusIn={({ target, currentTarget }) => {
        onHover(lineOf(target));
        moveStop({ list: currentTarget, entries: ENTRY }, entryOf(target));
      }}
      onFocusOut={() => onHover(null)}
      onKeyDown={(event) => goByKey(event, { list: event.currentTarget, entries: ENTRY }, entryOf(event.target))}
      onClick={({ target, currentTarget }) => {
        const line = lineOf(target);
        moveStop({ list: currentTarget, entries: ENTRY }, entryOf(target));
        if (line !== null && getSelection()?.isCollapsed !== false) onLine(lines[line]);
      }}
    >
      {places.map((place) => (
        <LineGroup
          key={place}
          index={index}
          lines={lines}
          from={place * LINES_A_GROUP}
          lit={lit !== null && groupOf(lit) === place ? lit : null}
          marks={marksOfGroups.get(place) ?? null}
        />
      ))}
    </div>
  );
}

interface LineGroupProps {
  readonly index: number;
  /** Of the whole page, or of the group. */
  readonly lines: readonly TextLine[];
  /** Place of the first line of the group. */
  readonly from: number;
  readonly lit: number | null;
  /** null: none in this group. */
  readonly marks: LineMarks | null;
}

/**
 * A list with lines that are rendered apart from the page: it is not compared again while another one is added, and leaving a
 * page of tens of thousands of lines takes out whole lists, without going through their lines. So lines hold neither
 * effects nor listeners, which would stay.
 */
function LineGroup({ index, lines, from, lit, marks }: LineGroupProps) {
  const list = useRef<HTMLOListElement>(null);
  const own = lines.slice(from, from + LINES_A_GROUP);
  const name = lines.length > LINES_A_GROUP ? VIEWER_LABELS.linesOf(from + 1, from + own.length) : undefined;
  useLayoutEffect(() => {
    if (list.current) render(<Lines index={index} lines={own} from={from} lit={lit} marks={marks} />, list.current);
  }, [index, lines, from, lit, marks]);
  return <ol ref={list} class={`text-lines${from > 0 ? " later" : ""}`} start={from + 1} aria-label={name} />;
}

function Lines({ index, lines, from, lit, marks }: LineGroupProps) {
  return (
    <>
      {lines.map((line, at) => {
        const place = from + at;
        return (
          <li
            key={place}
            data-line={`${index} ${place}`}
            class={`${place === lit ? "lit" : ""}${line.isFirst && place > 0 ? " first" : ""}`}
          >
            <button type="button" tabIndex={place === 0 ? 0 : -1} aria-label={VIEWER_LABELS.showLine(place + 1)}>
              {place + 1}
            </button>
            <span class={line.step} dir={line.direction ?? "auto"} title={confidenceWords(line.confidence)}>
              {marked(line.text, marks?.get(place) ?? [])}
            </span>
          </li>
        );
      })}
    </>
  );
}

/** A text with its marks. */
function marked(text: string, marks: readonly LineMark[]) {
  if (marks.length === 0) return text;
  return [
    text.slice(0, marks[0].from),
    ...marks.flatMap(({ from, to, isCurrent }, at) => [
      <mark key={at} aria-current={isCurrent ? "true" : undefined}>{text.slice(from, to)}</mark>,
      text.slice(to, marks[at + 1]?.from),
    ]),
  ];
}

const groupOf = (line: number) => Math.floor(line / LINES_A_GROUP);

function byGroup(marks: LineMarks): ReadonlyMap<number, LineMarks> {
  const groups = new Map<number, Map<number, readonly LineMark[]>>();
  for (const [line, own] of marks) {
    const group = groups.get(groupOf(line)) ?? new Map();
    groups.set(groupOf(line), group.set(line, own));
  }
  return groups;
}

/** The button of the line that an element belongs to; null: none. */
function entryOf(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest("[data-line]")?.querySelector<HTMLElement>(ENTRY) ?? null : null;
}

/** The place of the line that an element belongs to; null: none. */
function lineOf(target: EventTarget | null): number | null {
  const named = target instanceof Element ? target.closest<HTMLElement>("[data-line]")?.dataset.line : undefined;
  return named === undefined ? null : Number(named.split(" ")[1]);
}
