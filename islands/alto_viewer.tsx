import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo } from "preact/hooks";

import { ConfidenceLegend } from "@/components/viewer/confidence_legend.tsx";
import { lineBatches, PageText, PrintedLines } from "@/components/viewer/page_text.tsx";
import { useBatches } from "@/lib/pages/browser/steps_client.ts";
import { goToLogin, renderAgain, renderedWithSession } from "@/lib/pages/browser/session_client.ts";
import { copyText } from "@/lib/pages/browser/save_file_client.ts";
import { island } from "@/lib/pages/browser/island.tsx";
import { PageReader } from "@/lib/pages/alto/page_reader_client.ts";
import type { AltoPage } from "@/lib/pages/alto/alto_page.ts";
import { readingText } from "@/lib/pages/alto/line_text.ts";
import {
  PAGE_TEXT_LABELS,
  PAGE_TEXT_SENTENCES,
  pageFigures,
  pageProblem,
} from "@/lib/pages/alto/page_text_sentences.ts";
import { altoPath, loginPath, type NamedCampaign } from "@/lib/pages/page_paths.ts";
import { LABELS } from "@/lib/pages/page_sentences.ts";

type AltoViewerProps = {
  /** An address that may be opened: one that was judged to lie within the results, or that of an object of the store. */
  readonly src: string;
  /** The one that the reader comes from; null where the page was opened without one. */
  readonly campaign: NamedCampaign | null;
  /** Whether the server saw a session. */
  readonly hasSession: boolean;
};

/** The text of one page in reading order, tinted by confidence, or its file. */
export default island("alto_viewer", function AltoViewer({ src, campaign, hasSession }: AltoViewerProps) {
  const reader = useMemo(
    () => new PageReader(src, campaign, { fetch: (...request) => fetch(...request), onLogin: goToLogin }),
    [],
  );
  const isRaw = useSignal(false);
  const copied = useSignal("");
  const page = reader.page.value;
  const problem = reader.problem.value;
  const printed = reader.printed.value;
  const batches = useMemo(() => lineBatches(page?.blocks ?? []), [page]);
  const shown = useBatches(batches.length, batches);
  const hasText = batches.length > 0;
  const mayHaveText = problem === null && (page ? hasText : hasSession);
  const showsFile = printed !== null && (isRaw.value || problem !== null);

  useEffect(() => {
    if (hasSession) renderedWithSession();
    reader.start();
    return () => reader.stop();
  }, []);

  useLayoutEffect(() => {
    if (page && !hasSession) renderAgain();
  }, [page]);

  const copy = async (page: AltoPage) => {
    const isCopied = await copyText(readingText(page));
    copied.value = isCopied ? PAGE_TEXT_SENTENCES.textCopied : PAGE_TEXT_SENTENCES.textNotCopied;
  };

  return (
    <div class="alto">
      <div class="alto-tools">
        <p class="figure" role="status">
          {page
            ? pageFigures(page)
            : problem === null && hasSession && <span class="needs-scripts">{PAGE_TEXT_SENTENCES.readingPage}</span>}
          {copied.value !== "" && ` · ${copied.value}`}
        </p>
        <div class="needs-scripts buttons">
          <button class="btn" type="button" disabled={!hasText} onClick={() => page && copy(page)}>
            {PAGE_TEXT_LABELS.copyText}
          </button>
          <button
            class="btn"
            type="button"
            disabled={page === null}
            aria-pressed={isRaw.value}
            onClick={() => {
              isRaw.value = !isRaw.value;
              reader.print();
            }}
          >
            {PAGE_TEXT_LABELS.showXml}
          </button>
        </div>
        <p class="links">
          <a href={src}>{PAGE_TEXT_LABELS.rawFile}</a>
          <a class={reader.viewer.value === null ? "not-yet" : undefined} href={reader.viewer.value ?? undefined}>
            {PAGE_TEXT_LABELS.seeImage}
          </a>
        </p>
      </div>
      {mayHaveText && <ConfidenceLegend />}
      {problem !== null && <p class="banner bad" role="alert">{pageProblem(problem)}</p>}
      {!hasSession && !page && problem === null && (
        <p class="empty">
          <a href={loginPath(altoPath(src, campaign))}>{LABELS.logIn}</a> {PAGE_TEXT_LABELS.toReadPages}
        </p>
      )}
      {hasSession && <p class="empty without-scripts">{PAGE_TEXT_SENTENCES.pageNeedsScripts}</p>}
      {page && !showsFile &&
        (hasText
          ? <PageText batches={batches.slice(0, shown)} />
          : <p class="empty">{PAGE_TEXT_SENTENCES.noTextLines}</p>)}
      {showsFile && (
        <>
          {printed.isCut && <p class="banner">{PAGE_TEXT_SENTENCES.xmlShortened}</p>}
          <PrintedLines lines={printed.lines} label={PAGE_TEXT_LABELS.theFile} />
        </>
      )}
    </div>
  );
});
