import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import { Chip } from "@/components/chip.tsx";
import { LogStage } from "@/components/log_stage.tsx";
import { goToLogin } from "@/lib/client/go_to_login.ts";
import { island } from "@/lib/client/island.tsx";
import { LogReader } from "@/lib/client/log_reader.ts";
import { markLine } from "@/lib/client/marked_line.ts";
import { browserClock } from "@/lib/client/poller.ts";
import { renderAgain, renderedWithSession } from "@/lib/client/render_again.ts";
import { counted } from "@/lib/presentation/figures.ts";
import { SENTENCES } from "@/lib/presentation/page_sentences.ts";
import { formatClock } from "@/lib/presentation/moments.ts";
import { outcomeChip } from "@/lib/presentation/run_log/words.ts";

type RunViewerProps = {
  /** An address that was judged to lie within the results. */
  readonly log: string;
  /** The run may still write. */
  readonly live: boolean;
  /** Whether the server saw a session. */
  readonly hasSession: boolean;
};

/** px from the end of the page within which the reader counts as following. */
const AT_END_PX = 80;

/** A run log by stage, followed until the run ends. */
export default island("run_viewer", function RunViewer({ log, live, hasSession }: RunViewerProps) {
  const reader = useMemo(
    () => new LogReader(log, { fetch: (...request) => fetch(...request), clock: browserClock, onLogin: goToLogin }),
    [],
  );
  const follow = useSignal(true);
  const run = reader.log.value;
  const wasMarked = useRef(false);
  const isFollowing = reader.following.value;

  useEffect(() => {
    const pause = () => reader.pause(document.hidden);
    const mark = () => markLine(location.hash);
    document.addEventListener("visibilitychange", pause);
    addEventListener("hashchange", mark);
    if (hasSession) renderedWithSession();
    reader.start(live);
    return () => {
      document.removeEventListener("visibilitychange", pause);
      removeEventListener("hashchange", mark);
      reader.stop();
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
  return (
    <div class="run">
      <div class="outcome">
        {run && <Chip {...outcomeChip(run.outcome, isFollowing)} />}
        <span class="figure">{run ? counted(run.lineCount, "line") : problem ? "" : SENTENCES.readingLog}</span>
        {isFollowing && reader.readAt.value !== null && (
          <span class="figure">updated {formatClock(reader.readAt.value, zoneOfReader())}</span>
        )}
        {isFollowing && (
          <label class="switch">
            <input type="checkbox" checked={follow.value} onChange={() => follow.value = !follow.value} />
            Follow the end
          </label>
        )}
        <a class="raw" href={log}>Raw text</a>
      </div>
      {problem !== null && <p class="banner bad" role="alert">{problem}{isFollowing && ` ${SENTENCES.logRetried}`}</p>}
      {!hasSession && !run && (
        <p class="empty">
          <a href="/login">Log in</a> to read run logs.
        </p>
      )}
      {hasSession && <p class="empty without-scripts">{SENTENCES.logNeedsScripts}</p>}
      {run && run.hiddenCharacters > 0 && (
        <p class="banner">
          {SENTENCES.logShortened}{" "}
          <button class="btn small" type="button" onClick={() => reader.showWhole()}>Show the whole log</button>
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
