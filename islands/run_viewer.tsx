import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import { Chip } from "@/components/chip.tsx";
import { type LineLook, LogStage, LogTools } from "@/components/log/log_lines.tsx";
import { RunFigures, RunSummary } from "@/components/log/run_summary.tsx";
import { goToLogin, renderAgain, renderedWithSession } from "@/lib/pages/browser/session_client.ts";
import { copyText } from "@/lib/pages/browser/save_file_client.ts";
import { island } from "@/lib/pages/browser/island.tsx";
import { LogReader } from "@/lib/pages/log/log_reader_client.ts";
import { LogView } from "@/lib/pages/log/log_view_client.ts";
import { usePrinting } from "@/lib/pages/browser/printing_client.ts";
import { browserClock } from "@/lib/pages/browser/poller_client.ts";
import { zoneOfReader } from "@/lib/pages/browser/reader_moments_client.ts";
import { goByKey, moveStop, watchStop } from "@/lib/pages/browser/focus_client.ts";
import { RunManifestReader } from "@/lib/pages/log/run_manifest_reader_client.ts";
import { formatClock } from "@/lib/pages/moments.ts";
import { loginPath, type NamedCampaign } from "@/lib/pages/page_paths.ts";
import { LABELS } from "@/lib/pages/page_sentences.ts";
import { findLinkedLine, readLineLink, writeLineLink } from "@/lib/pages/log/log_rows.ts";
import {
  type Following,
  LOG_FIGURES,
  LOG_LABELS,
  LOG_SENTENCES,
  logProblem,
  outcomeChip,
} from "@/lib/pages/log/log_sentences.ts";
import { isComplete, summarizeRun } from "@/lib/pages/log/run_manifest.ts";

type RunViewerProps = {
  /** An address that was judged to lie within the results. */
  readonly log: string;
  /** The address of the run's manifest, judged likewise; null where the page was opened without one. */
  readonly manifest: string | null;
  /** The run may still write. */
  readonly live: boolean;
  /** The one that the reader comes from; null where the page was opened without one. */
  readonly campaign: NamedCampaign | null;
  /** Whether the server saw a session. */
  readonly hasSession: boolean;
  /** The path and query of this page, to which a login leads back. */
  readonly address: string;
};

/** px from the end of the page within which the reader counts as following. */
const AT_END_PX = 80;
/** The links of lines. */
const NUMBERS = "a.number";
/** The links of lines and the buttons of folded requests: one stop of the Tab key, and arrows go through them. */
const STOPS = `:is(${NUMBERS}, button.folded)`;
/** Those that are not in a folded stage. */
const SHOWN_STOPS = `details[open] ${STOPS}`;

/** A run log by stage, followed until the run ends, and beside it the pages in the run's manifest. */
export default island("run_viewer", function RunViewer(props: RunViewerProps) {
  const { log, manifest, live, campaign, hasSession, address } = props;
  const { reader, pages, view } = useMemo(() => {
    const deps = {
      fetch: (...request: Parameters<typeof fetch>) => fetch(...request),
      clock: browserClock,
      onLogin: goToLogin,
    };
    const reader: LogReader = new LogReader(log, { ...deps, onEnd: () => pages?.settle() });
    const pages = manifest === null
      ? null
      : new RunManifestReader(manifest, { ...deps, onEnd: () => reader.endAfterNextRead() });
    return { reader, pages, view: new LogView(reader.log) };
  }, []);
  const isPrinting = usePrinting();
  const follow = useSignal(true);
  const isSummaryOpen = useSignal(false);
  const notice = useSignal("");
  /** The line in the address has not been shown yet. */
  const isLinkOpen = useSignal(false);
  const run = reader.log.value;
  const isFollowing = reader.following.value;

  /** Scrolls to the line in the address. If the line is in the omitted part of a long log, parses the whole log first. */
  const goToLink = () => {
    const link = readLineLink(location.hash);
    const { value: run } = reader.log;
    isLinkOpen.value = link !== null && !view.goToLink(link);
    if (link && isLinkOpen.value && run && run.hiddenCharacters > 0 && link.number < run.firstNumber) {
      void reader.showWhole();
    }
  };

  useEffect(() => {
    const pause = () => {
      reader.pause(document.hidden);
      pages?.pause(document.hidden);
    };
    document.addEventListener("visibilitychange", pause);
    addEventListener("hashchange", goToLink);
    if (hasSession) renderedWithSession();
    isLinkOpen.value = readLineLink(location.hash) !== null;
    pause();
    reader.start(live);
    pages?.start(live);
    return () => {
      document.removeEventListener("visibilitychange", pause);
      removeEventListener("hashchange", goToLink);
      reader.stop();
      pages?.stop();
    };
  }, []);

  const wasAtEnd = isAtEnd();
  const lastStage = useRef<string | null>(null);
  useLayoutEffect(() => {
    if (!run) return;
    if (!hasSession) renderAgain();
    const followsEnd = isFollowing && follow.value && wasAtEnd;
    // A finished stage is folded, unless the reader is in it.
    const last = view.stages.peek().at(-1)?.key ?? null;
    if (lastStage.current !== null && lastStage.current !== last && !followsEnd) view.setOpen(lastStage.current, true);
    lastStage.current = last;
    // Scroll to a linked line once, when it exists.
    if (isLinkOpen.value) goToLink();
    else if (followsEnd) scrollTo({ top: document.documentElement.scrollHeight });
  }, [run]);

  const list = useRef<HTMLDivElement>(null);
  useEffect(() => list.current ? watchStop({ list: list.current, entries: STOPS }, SHOWN_STOPS) : undefined, []);

  const goal = view.goal.value;
  useLayoutEffect(() => {
    if (goal) document.getElementById(`L${goal.number}`)?.scrollIntoView({ block: "center" });
  }, [goal]);

  const problem = reader.problem.value;
  const state = pages?.state.value;
  const read = state?.kind === "read" ? state.manifest : null;
  const summary = useMemo(() => read && summarizeRun(read), [read]);
  const outcome = run?.outcome ?? (read && isComplete(read) ? "finished" : null);
  const isQuiet = reader.quiet.value && outcome !== "finished" && outcome !== "failed";
  const isOver = outcome === "finished" || outcome === "failed" || !live;
  const isWaiting = isFollowing && run === null && problem === 404;
  const following: Following = reader.stopped.value ? "stopped" : isWaiting ? "waiting" : isFollowing ? "yes" : "no";
  const stages = view.stages.value;
  const open = new Map(stages.map((shown) => [shown.key, view.isOpen(shown, isOver)]));
  const firstOpen = stages.find(({ key }) => open.get(key))?.key;
  const look: LineLook = {
    since: view.sinceStart.value ? run?.startedAt ?? null : null,
    search: view.search.value,
    hit: view.hit.value,
    marked: view.marked.value,
    isPrinting: isPrinting.value,
    openFolds: view.openFolds.value,
    onFold: (first, isOpen) => view.setFoldOpen(first, isOpen),
    linkOf: (line) => run ? writeLineLink(line, run) : "",
  };

  const followAgain = () => {
    reader.start(true);
    pages?.start(true);
  };

  /** Marks the line whose number is clicked, and copies its address. */
  const onNumber = async (event: MouseEvent) => {
    const number = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>(NUMBERS) : null;
    if (!number || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const link = readLineLink(number.hash);
    const line = run && link && findLinkedLine(run, link);
    if (!line) return;
    if (list.current) moveStop({ list: list.current, entries: STOPS }, number);
    history.replaceState(null, "", number.hash);
    view.mark(line);
    const isCopied = await copyText(location.href);
    notice.value = isCopied ? LOG_SENTENCES.linkCopied(String(line.number)) : LOG_SENTENCES.linkNotCopied;
  };

  return (
    <div class={pages ? "run with-summary" : "run"}>
      <RunFigures
        run={read && summary && { manifest: read, summary }}
        log={run}
        isLive={isFollowing}
        isExpected={hasSession && pages !== null && state?.kind === "reading"}
      />
      {state && hasSession && (
        <aside class="run-summary" aria-label={LOG_LABELS.pageSummary} data-open={isSummaryOpen.value}>
          {/* On a narrow screen the summary is above the log, and folded at first: loading it moves no line of the log. */}
          <p class="fold-summary">
            <button
              class="btn"
              type="button"
              aria-expanded={isSummaryOpen.value}
              onClick={() =>
                isSummaryOpen.value = !isSummaryOpen.value}
            >
              {LOG_LABELS.pageSummary}
            </button>
            <a href="#log">{LOG_LABELS.toLog}</a>
          </p>
          <div class="summed">
            <RunSummary state={state} summary={summary} campaign={campaign} isLive={isFollowing} />
          </div>
        </aside>
      )}
      <div class="run-log" id="log">
        {hasSession && <p class="empty without-scripts">{LOG_SENTENCES.logNeedsScripts}</p>}
        <div class="run-tools needs-scripts">
          <div class="outcome">
            {(run || isWaiting || following === "stopped") && <Chip {...outcomeChip(outcome, following)} />}
            <span class="figure">
              {run ? LOG_FIGURES.lines(run.lineCount) : hasSession && problem === null ? LOG_SENTENCES.readingLog : ""}
            </span>
            {isFollowing && reader.readAt.value !== null && (
              <span class="figure">{LABELS.updated} {formatClock(reader.readAt.value, zoneOfReader())}</span>
            )}
            <span class="figure copied" role="status">{notice.value}</span>
            {isFollowing && (
              <label class="switch">
                <input type="checkbox" checked={follow.value} onChange={() => follow.value = !follow.value} />
                {LOG_LABELS.followEnd}
              </label>
            )}
          </div>
          {run && <LogTools view={view} counts={run.counts} isFolded={stages.some(({ key }) => !open.get(key))} />}
        </div>
        {isWaiting && <p class="empty">{LOG_SENTENCES.waiting}</p>}
        {problem !== null && !isWaiting && (
          <p class="banner bad" role="alert">{logProblem(problem)}{isFollowing && ` ${LOG_SENTENCES.logRetried}`}</p>
        )}
        {(reader.stopped.value || isQuiet) && (
          <p class="banner">
            {isQuiet ? LOG_SENTENCES.quiet : LOG_SENTENCES.stopped}{" "}
            <button class="btn small" type="button" onClick={followAgain}>{LOG_LABELS.followAgain}</button>
          </p>
        )}
        {!hasSession && !run && (
          <p class="empty">
            <a href={loginPath(address)}>{LABELS.logIn}</a> {LOG_LABELS.toReadLogs}
          </p>
        )}
        {run && isLinkOpen.value && run.hiddenCharacters === 0 && (
          <p class="banner">{isFollowing ? LOG_SENTENCES.lineLater : LOG_SENTENCES.lineGone}</p>
        )}
        {run && run.hiddenCharacters > 0 && (
          <p class="banner">
            {LOG_SENTENCES.logShortened}{" "}
            <button class="btn small" type="button" onClick={() => void reader.showWhole()}>
              {LOG_LABELS.showWholeLog}
            </button>
          </p>
        )}
        {run && stages.length === 0 && (
          <p class="empty">{run.lineCount === 0 ? LOG_SENTENCES.emptyLog : LOG_SENTENCES.noLines}</p>
        )}
        {run && run.startedAt !== null && stages.length > 0 && (
          <p class="clock">{look.since === null ? LOG_LABELS.clockOfLog : LOG_LABELS.clockSinceStart}</p>
        )}
        <div
          ref={list}
          class="stages"
          onClick={(event) => void onNumber(event)}
          onKeyDown={(event) => goByKey(event, { list: event.currentTarget, entries: STOPS }, stopOf(event.target))}
          onFocusIn={({ currentTarget, target }) => moveStop({ list: currentTarget, entries: STOPS }, stopOf(target))}
        >
          {stages.map(({ stage, blocks, key }) => (
            <LogStage
              key={key}
              stage={stage}
              blocks={blocks}
              look={look}
              isOpen={open.get(key) ?? false}
              isFirst={key === firstOpen}
              onOpen={(isOpen) => view.setOpen(key, isOpen)}
            />
          ))}
        </div>
      </div>
    </div>
  );
});

function stopOf(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest<HTMLElement>(STOPS) : null;
}

function isAtEnd(): boolean {
  if (typeof document === "undefined") return false;
  const { scrollHeight, clientHeight, scrollTop } = document.documentElement;
  return scrollHeight - clientHeight - scrollTop < AT_END_PX;
}
