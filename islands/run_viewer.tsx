import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import { Chip } from "@/components/chip.tsx";
import { LogStage } from "@/components/log_stage.tsx";
import { RunFigures } from "@/components/run_figures.tsx";
import { RunSummary } from "@/components/run_summary.tsx";
import { goToLogin } from "@/lib/client/go_to_login.ts";
import { island } from "@/lib/client/island.tsx";
import { LogReader } from "@/lib/client/log_reader.ts";
import { markLine } from "@/lib/client/marked_line.ts";
import { browserClock } from "@/lib/client/poller.ts";
import { renderAgain, renderedWithSession } from "@/lib/client/render_again.ts";
import { RunManifestReader } from "@/lib/client/run_manifest_reader.ts";
import { counted } from "@/lib/presentation/figures.ts";
import { LABELS, SENTENCES } from "@/lib/presentation/page_sentences.ts";
import { formatClock } from "@/lib/presentation/moments.ts";
import { isComplete } from "@/lib/presentation/run_manifest/run_manifest.ts";
import { summarizeRun } from "@/lib/presentation/run_manifest/run_summary.ts";
import { outcomeChip } from "@/lib/presentation/run_log/words.ts";

type RunViewerProps = {
  /** An address that was judged to lie within the results. */
  readonly log: string;
  /** The address of the run's manifest, judged likewise; null where the page was opened without one. */
  readonly manifest: string | null;
  /** The run may still write. */
  readonly live: boolean;
  /** Whether the server saw a session. */
  readonly hasSession: boolean;
};

/** px from the end of the page within which the reader counts as following. */
const AT_END_PX = 80;

/** A run log by stage, followed until the run ends, and beside it what the run's manifest says of its pages. */
export default island("run_viewer", function RunViewer({ log, manifest, live, hasSession }: RunViewerProps) {
  const { reader, pages } = useMemo(() => {
    const deps = {
      fetch: (...request: Parameters<typeof fetch>) => fetch(...request),
      clock: browserClock,
      onLogin: goToLogin,
    };
    const reader: LogReader = new LogReader(log, { ...deps, onEnd: () => pages?.settle() });
    const pages = manifest === null
      ? null
      : new RunManifestReader(manifest, { ...deps, onComplete: () => reader.endAfterNextRead() });
    return { reader, pages };
  }, []);
  const follow = useSignal(true);
  const isSummaryOpen = useSignal(false);
  const run = reader.log.value;
  const wasMarked = useRef(false);
  const isFollowing = reader.following.value;

  useEffect(() => {
    const pause = () => {
      reader.pause(document.hidden);
      pages?.pause(document.hidden);
    };
    const mark = () => markLine(location.hash);
    document.addEventListener("visibilitychange", pause);
    addEventListener("hashchange", mark);
    if (hasSession) renderedWithSession();
    pause();
    reader.start(live);
    pages?.start(live);
    return () => {
      document.removeEventListener("visibilitychange", pause);
      removeEventListener("hashchange", mark);
      reader.stop();
      pages?.stop();
    };
  }, []);

  const wasAtEnd = isAtEnd();
  useLayoutEffect(() => {
    if (!run) return;
    if (!hasSession) renderAgain();
    // A line that a link names is gone to once, when it is there; the reader may leave it then.
    if (!wasMarked.current && markLine(location.hash)) wasMarked.current = true;
    else if (isFollowing && follow.value && wasAtEnd) scrollTo({ top: document.documentElement.scrollHeight });
  }, [run]);

  const problem = reader.problem.value;
  const state = pages?.state.value;
  const read = state?.kind === "read" ? state.manifest : null;
  const summary = useMemo(() => read && summarizeRun(read), [read]);
  const outcome = run?.outcome ?? (read && isComplete(read) ? "finished" : null);
  return (
    <div class={pages ? "run with-summary" : "run"}>
      {pages && <RunFigures run={read && summary && { manifest: read, summary }} />}
      {state && hasSession && (
        <aside class="run-summary" aria-label={LABELS.pageSummary} data-open={isSummaryOpen.value}>
          {/* Where the summary stands above the log, it is folded at first: what arrives moves no line of the log. */}
          <p class="fold-summary">
            <button
              class="btn"
              type="button"
              aria-expanded={isSummaryOpen.value}
              onClick={() =>
                isSummaryOpen.value = !isSummaryOpen.value}
            >
              {LABELS.pageSummary}
            </button>
            <a href="#log">{LABELS.toLog}</a>
          </p>
          <div class="summed">
            <RunSummary state={state} summary={summary} isLive={isFollowing} />
          </div>
        </aside>
      )}
      <div class="run-log" id="log">
        <div class="outcome">
          {run && <Chip {...outcomeChip(outcome, isFollowing)} />}
          <span class="figure">{run ? counted(run.lineCount, "line") : problem ? "" : SENTENCES.readingLog}</span>
          {isFollowing && reader.readAt.value !== null && (
            <span class="figure">{LABELS.updated} {formatClock(reader.readAt.value, zoneOfReader())}</span>
          )}
          {isFollowing && (
            <label class="switch">
              <input type="checkbox" checked={follow.value} onChange={() => follow.value = !follow.value} />
              {LABELS.followEnd}
            </label>
          )}
          <a class="raw" href={log}>{LABELS.rawText}</a>
        </div>
        {problem !== null && (
          <p class="banner bad" role="alert">{problem}{isFollowing && ` ${SENTENCES.logRetried}`}</p>
        )}
        {!hasSession && !run && (
          <p class="empty">
            <a href="/login">{LABELS.logIn}</a> {LABELS.toReadLogs}
          </p>
        )}
        {hasSession && <p class="empty without-scripts">{SENTENCES.logNeedsScripts}</p>}
        {run && run.hiddenCharacters > 0 && (
          <p class="banner">
            {SENTENCES.logShortened}{" "}
            <button class="btn small" type="button" onClick={() => reader.showWhole()}>{LABELS.showWholeLog}</button>
          </p>
        )}
        {run?.stages.map((stage, place) => (
          <LogStage
            key={`${place} ${stage.name}`}
            stage={stage}
            open={stage.errors + stage.warnings > 0 || place === run.stages.length - 1}
          />
        ))}
      </div>
    </div>
  );
});

function isAtEnd(): boolean {
  if (typeof document === "undefined") return false;
  const { scrollHeight, clientHeight, scrollTop } = document.documentElement;
  return scrollHeight - clientHeight - scrollTop < AT_END_PX;
}

function zoneOfReader(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}
