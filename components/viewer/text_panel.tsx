import { type ReadonlySignal, type Signal, useSignal } from "@preact/signals";
import { render } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import { ConfidenceLegend } from "./confidence_legend.tsx";
import { ToolButton } from "@/components/icon.tsx";
import { goByKey, moveStop } from "@/lib/pages/browser/focus_client.ts";
import { copyText } from "@/lib/pages/browser/save_file_client.ts";
import { useBatches } from "@/lib/pages/browser/steps_client.ts";
import type { PageText, PageTexts } from "@/lib/pages/viewer/page_texts_client.ts";
import type { ViewerStore } from "@/lib/pages/viewer/viewer_store_client.ts";
import type { AltoPage } from "@/lib/pages/alto/alto_page.ts";
import { readingText } from "@/lib/pages/alto/line_text.ts";
import { formatQuality } from "@/lib/pages/locale/figures.ts";
import { loginPath } from "@/lib/pages/page_paths.ts";
import { LABELS } from "@/lib/pages/page_sentences.ts";
import { confidenceWords } from "@/lib/pages/alto/page_text_sentences.ts";
import {
  noTextSentence,
  textProblemSentence,
  VIEWER_LABELS,
  VIEWER_SENTENCES,
} from "@/lib/pages/viewer/viewer_sentences.ts";
import { type LineMark, type LineMarks, lineMarks, type TextLine } from "@/lib/pages/viewer/viewer_text.ts";
import type { VolumeHit } from "@/lib/pages/search/volume_index.ts";

/** A line that is highlighted in the text and on the image. */
export interface LitLine {
  /** Index of the canvas. */
  readonly index: number;
  readonly line: number;
  /** The side with the pointer; the other side shows the line. */
  readonly from: "image" | "text";
}

/** The state that the image and the text of the pages share. */
export interface PagesState {
  readonly store: ViewerStore;
  readonly texts: PageTexts;
  readonly lit: Signal<LitLine | null>;
  /** The hits of the search. */
  readonly hits: ReadonlySignal<readonly VolumeHit[]>;
  readonly currentHit: ReadonlySignal<VolumeHit | null>;
}

interface TextPanelProps extends PagesState {
  /** Whether a file is one of this site's results. */
  readonly isOurs: (url: string) => boolean;
  readonly onLine: (index: number, line: TextLine) => void;
  readonly onClose: () => void;
}

/** The text of the pages that are shown, line by line. */
export function TextPanel({ store, texts, lit, hits, currentHit, isOurs, onLine, onClose }: TextPanelProps) {
  const box = useRef<HTMLDivElement>(null);
  const attempt = useSignal(0);
  // A text that is read again is another signal.
  attempt.value;
  const shown = store.shownInOrder.value;
  const { value: litLine } = lit;

  // Before the effects of the pages, which scroll to a line.
  useLayoutEffect(() => {
    box.current?.scrollTo({ top: 0 });
  }, [shown.join()]);

  return (
    <section class="text-panel" aria-label={VIEWER_LABELS.text}>
      <p class="sr" id="lines-keys">{VIEWER_LABELS.linesKeys}</p>
      <div
        class="text-scroll"
        ref={box}
        role="group"
        aria-label={VIEWER_LABELS.pageText}
        aria-describedby="lines-keys"
        tabIndex={0}
      >
        {shown.map((index) => {
          const canvas = store.manifest.value?.canvases[index];
          const text = canvas && texts.of(canvas);
          return (
            <PageTextView
              key={index}
              index={index}
              label={canvas?.label ?? ""}
              text={text?.value ?? null}
              reason={store.unread.value.get(index)}
              lit={litLine?.index === index ? litLine : null}
              hits={hits.value}
              currentHit={currentHit.value?.canvas === index ? currentHit.value : null}
              isOurs={isOurs}
              onHover={(line) => lit.value = line === null ? null : { index, line, from: "text" }}
              onLine={(line) => onLine(index, line)}
              onRetry={(url) => {
                texts.forget(url);
                attempt.value++;
              }}
              onClose={index === shown[0] ? onClose : null}
            />
          );
        })}
      </div>
    </section>
  );
}

interface PageTextViewProps {
  /** Canvas index. */
  readonly index: number;
  readonly label: string;
  /** null: none is published. */
  readonly text: PageText | null;
  /** Why the page could not be read; null: the run does not say. Undefined: nothing is known of a run. */
  readonly reason: string | null | undefined;
  readonly lit: LitLine | null;
  /** Hits of all pages. */
  readonly hits: readonly VolumeHit[];
  /** null: it is on no line of this page. */
  readonly currentHit: VolumeHit | null;
  readonly isOurs: (url: string) => boolean;
  readonly onHover: (line: number | null) => void;
  readonly onLine: (line: TextLine) => void;
  readonly onRetry: (url: string) => void;
  /** null: the page before it has the button. */
  readonly onClose: (() => void) | null;
}

function PageTextView(props: PageTextViewProps) {
  const { label, text, isOurs } = props;
  const copied = useSignal<"no" | "yes" | "refused">("no");
  const page = text?.kind === "text" ? text.page : null;
  const copy = async (page: AltoPage) => {
    copied.value = await copyText(readingText(page)) ? "yes" : "refused";
  };
  return (
    <>
      <header>
        <h2>
          {VIEWER_LABELS.pageNamed(label)}{" "}
          {page?.confidence != null && (
            <span class="note" title={VIEWER_LABELS.predictedQuality}>
              {VIEWER_LABELS.quality(formatQuality(page.confidence))}
            </span>
          )}
        </h2>
        {page && "clipboard" in navigator && (
          <ToolButton
            icon="copy"
            name={copied.value === "yes" ? VIEWER_LABELS.copied : VIEWER_LABELS.copy}
            onClick={() => void copy(page)}
          />
        )}
        {text?.kind === "text" && <a class="btn" href={text.url} rel="noreferrer">ALTO</a>}
        {props.onClose && <ToolButton icon="close" name={VIEWER_LABELS.closeText} onClick={props.onClose} />}
        <span class="sr" role="status">{copied.value === "yes" ? VIEWER_LABELS.copied : ""}</span>
      </header>
      {copied.value === "refused" && <p class="text-note" role="alert">{VIEWER_SENTENCES.notCopied}</p>}
      {text === null && <p class="text-note">{noTextSentence(props.reason)}</p>}
      {text?.kind === "reading" && <p class="text-note">{VIEWER_SENTENCES.readingText}</p>}
      {text?.kind === "problem" && (
        <div class="text-note" role="alert">
          <p>{textProblemSentence(text.problem, isOurs(text.url))}</p>
          <p class="ways">
            {text.problem === 401 && isOurs(text.url) && (
              <a class="btn" href={loginPath(location.pathname + location.search + location.hash)}>{LABELS.logIn}</a>
            )}
            <button class="btn" type="button" onClick={() => props.onRetry(text.url)}>{VIEWER_LABELS.tryAgain}</button>
            <a class="btn" href={text.url} rel="noreferrer">{VIEWER_LABELS.openFile}</a>
          </p>
        </div>
      )}
      {text?.kind === "text" && text.lines.length === 0 && <p class="text-note">{VIEWER_SENTENCES.emptyText}</p>}
      {text?.kind === "text" && text.lines.length > 0 && <ReadText {...props} lines={text.lines} />}
    </>
  );
}

/** Lines that a browser renders within a few milliseconds. */
const LINES_A_GROUP = 100;
/** Selector of the elements that the arrow keys visit. */
const ENTRY = "button";

/**
 * The lines of a page, with highlighted line and search hits, in lists that are rendered one after the other. In the end all
 * of them are in the document, so that the browser finds and copies any line; those out of view are not laid out. One stop
 * of the Tab key leads into them.
 */
function ReadText({ index, lines, lit, hits, currentHit, onHover, onLine }: PageTextViewProps & {
  readonly lines: readonly TextLine[];
}) {
  const box = useRef<HTMLDivElement>(null);
  const count = Math.ceil(lines.length / LINES_A_GROUP);
  const rendered = useBatches(count, lines);
  const own = useMemo(() => hits.filter(({ canvas }) => canvas === index), [hits, index]);
  const marks = useMemo(() => byGroup(lineMarks(lines, own, currentHit)), [lines, own, currentHit]);
  const legend = useMemo(() => <ConfidenceLegend steps={lines.map(({ step }) => step)} />, [lines]);
  const litOnImage = lit?.from === "image" ? lit.line : null;
  /** The group of this line is rendered before its turn. */
  const wanted = litOnImage ?? currentHit?.line ?? -1;
  const elementOf = (line: number) => box.current?.querySelector(`[data-line="${index} ${line}"]`);
  useEffect(() => {
    if (litOnImage !== null) elementOf(litOnImage)?.scrollIntoView({ block: "nearest" });
  }, [litOnImage]);
  useEffect(() => {
    if (currentHit) elementOf(currentHit.line)?.scrollIntoView({ block: "center" });
  }, [currentHit, lines]);
  const groups = Array.from({ length: count }, (_, group) => group)
    .filter((group) => group < rendered || group === groupOf(wanted));
  return (
    <div ref={box}>
      {legend}
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
        {groups.map((group) => (
          <LineGroup
            key={group}
            index={index}
            lines={lines}
            from={group * LINES_A_GROUP}
            lit={lit && groupOf(lit.line) === group ? lit.line : null}
            marks={marks.get(group) ?? null}
          />
        ))}
      </div>
    </div>
  );
}

interface LineGroupProps {
  readonly index: number;
  /** All lines of the page, or those of the group. */
  readonly lines: readonly TextLine[];
  /** Place of the first line of the group. */
  readonly from: number;
  readonly lit: number | null;
  /** null: none in this group. */
  readonly marks: LineMarks | null;
}

/**
 * A list of lines with a separate Preact root: it is not compared again while another one is added, and leaving a page of tens
 * of thousands of lines removes whole lists without visiting their lines. So lines must have neither effects nor listeners,
 * which would leak.
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
