import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { ConfidenceLegend } from "@/components/confidence_legend.tsx";
import { ToolButton } from "@/components/viewer/tool_button.tsx";
import type { PageText, PageTexts } from "@/lib/client/viewer/page_texts.ts";
import type { ViewerStore } from "@/lib/client/viewer/viewer_store.ts";
import type { AltoPage } from "@/lib/presentation/alto/alto_page.ts";
import { readingText } from "@/lib/presentation/alto/reading_text.ts";
import { formatQuality } from "@/lib/presentation/figures.ts";
import { loginPath } from "@/lib/presentation/page_paths.ts";
import { LABELS } from "@/lib/presentation/page_sentences.ts";
import { confidenceWords } from "@/lib/presentation/page_text_words.ts";
import { textProblemSentence, VIEWER_LABELS, VIEWER_SENTENCES } from "@/lib/presentation/viewer_sentences.ts";
import type { TextLine } from "@/lib/presentation/viewer_text.ts";

/** A line of a page that is lit in the text and on the image. */
export interface LitLine {
  /** Index of the canvas. */
  readonly index: number;
  readonly line: number;
  /** Where the reader points; the other side shows the line. */
  readonly from: "image" | "text";
}

interface TextPanelProps {
  readonly store: ViewerStore;
  readonly texts: PageTexts;
  readonly lit: Signal<LitLine | null>;
  /** Whether a file is one of this site's results. */
  readonly isOurs: (url: string) => boolean;
  readonly onLine: (index: number, line: TextLine) => void;
  readonly onClose: () => void;
}

/** The text of the pages that are shown, line by line. */
export function TextPanel({ store, texts, lit, isOurs, onLine, onClose }: TextPanelProps) {
  const box = useRef<HTMLDivElement>(null);
  const attempt = useSignal(0);
  // A text that is read again is another signal.
  attempt.value;
  const shown = store.shownInOrder.value;
  const { value: litLine } = lit;

  useEffect(() => {
    box.current?.scrollTo({ top: 0 });
  }, [shown.join()]);
  useEffect(() => {
    if (litLine?.from !== "image") return;
    box.current?.querySelector(`[data-line="${litLine.index} ${litLine.line}"]`)?.scrollIntoView({ block: "nearest" });
  }, [litLine]);

  return (
    <section class="text-panel" aria-label={VIEWER_LABELS.text}>
      <div class="text-scroll" ref={box} role="group" aria-label={VIEWER_LABELS.pageText} tabIndex={0}>
        {shown.map((index) => {
          const canvas = store.manifest.value?.canvases[index];
          const text = canvas && texts.of(canvas);
          return (
            <PageTextView
              key={index}
              index={index}
              label={canvas?.label ?? ""}
              text={text?.value ?? null}
              lit={litLine?.index === index ? litLine.line : null}
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
  /** Of the canvas. */
  readonly index: number;
  readonly label: string;
  /** null: none is published. */
  readonly text: PageText | null;
  readonly lit: number | null;
  readonly isOurs: (url: string) => boolean;
  readonly onHover: (line: number | null) => void;
  readonly onLine: (line: TextLine) => void;
  readonly onRetry: (url: string) => void;
  /** null: the page before it has the button. */
  readonly onClose: (() => void) | null;
}

function PageTextView(props: PageTextViewProps) {
  const { label, text, lit, isOurs, onHover, onLine } = props;
  const copied = useSignal<"no" | "yes" | "refused">("no");
  const page = text?.kind === "text" ? text.page : null;
  const copy = async (page: AltoPage) => {
    try {
      await navigator.clipboard.writeText(readingText(page));
      copied.value = "yes";
    } catch {
      copied.value = "refused";
    }
  };
  return (
    <>
      <header>
        <h2>
          Page {label} {page?.confidence != null && (
            <span class="note" title={VIEWER_LABELS.predictedQuality}>
              quality {formatQuality(page.confidence)}
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
      {text === null && <p class="text-note">{VIEWER_SENTENCES.noText}</p>}
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
      {text?.kind === "text" && text.lines.length > 0 && (
        <>
          <ConfidenceLegend steps={text.lines.map(({ step }) => step)} />
          <ol class="text-lines" onPointerLeave={() => onHover(null)}>
            {text.lines.map((line, place) => (
              <li
                key={place}
                data-line={`${props.index} ${place}`}
                class={`${place === lit ? "lit" : ""}${line.isFirst && place > 0 ? " first" : ""}`}
                onPointerEnter={() => onHover(place)}
                onClick={() => getSelection()?.isCollapsed !== false && onLine(line)}
              >
                <button
                  type="button"
                  aria-label={VIEWER_LABELS.showLine(place + 1)}
                  onFocus={() => onHover(place)}
                  onBlur={() => onHover(null)}
                >
                  {place + 1}
                </button>
                <span class={line.step} title={confidenceWords(line.confidence)}>{line.text}</span>
              </li>
            ))}
          </ol>
        </>
      )}
    </>
  );
}
