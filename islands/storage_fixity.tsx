import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { FixitySummary } from "@/components/storage/fixity_summary.tsx";
import { island } from "@/lib/pages/browser/island.tsx";
import { browserClock, Poller } from "@/lib/pages/browser/poller_client.ts";
import { readerMoments, useMoments } from "@/lib/pages/browser/reader_moments_client.ts";
import { callStorageApi } from "@/lib/pages/storage/storage_api_client.ts";
import {
  checkedPlace,
  type Expected,
  FIXITY_SENTENCES,
  type FixityCheck,
  fixityCheckOf,
} from "@/lib/pages/storage/fixity_check.ts";

/** A check and what it is about to read; null where that is not known. */
interface ShownCheck {
  readonly check: FixityCheck;
  readonly expected: Expected | null;
}

interface StorageFixityProps {
  readonly account: string;
  readonly checks: readonly ShownCheck[];
  /** Whether the page is that of the one check, whose report follows its end. */
  readonly isAlone: boolean;
  /** The server's clock, ms since 1970. */
  readonly renderedAt: number;
}

/** How often the progress of checks that run is read, seconds. */
const EVERY_SECONDS = 2;

/** Fixity checks, with the progress of those that run and times in the reader's zone once scripts run. */
export default island(
  "storage_fixity",
  function StorageFixity({ account, checks, isAlone, renderedAt }: StorageFixityProps) {
    const style = useMoments(renderedAt);
    const shown = useSignal(checks);
    const message = useSignal("");

    useEffect(() => {
      if (!checks.some(({ check }) => isRunning(check))) return;
      const poller = new Poller(async (signal) => {
        const read = await Promise.all(shown.value.map((one) => readAgain(account, one, signal)));
        const ended = read.find(({ check }, n) => !isRunning(check) && isRunning(shown.value[n].check));
        const isLost = read.some((one, n) => isRunning(one.check) && one === shown.value[n]);
        shown.value = read;
        style.value = readerMoments();
        message.value = ended
          ? FIXITY_SENTENCES.hasEnded(checkedPlace(ended.check))
          : isLost
          ? FIXITY_SENTENCES.notCurrent
          : "";
        if (ended && isAlone) location.reload();
        if (!read.some(({ check }) => isRunning(check))) poller.repeat(null);
        return !isLost;
      }, browserClock);
      const pauseWhenHidden = () => poller.pause(document.visibilityState === "hidden");
      document.addEventListener("visibilitychange", pauseWhenHidden);
      poller.startFrom(Date.now());
      poller.repeat(EVERY_SECONDS);
      pauseWhenHidden();
      return () => {
        document.removeEventListener("visibilitychange", pauseWhenHidden);
        poller.stop();
      };
    }, []);

    const hasRunning = checks.some(({ check }) => isRunning(check));
    return (
      <>
        {hasRunning && <p class="sub news" role="status">{message.value}</p>}
        <ol class="checks">
          {shown.value.map(({ check, expected }) => (
            <li key={check.task_id}>
              <FixitySummary
                account={account}
                check={check}
                expected={expected}
                style={style.value}
                isAlone={isAlone}
              />
            </li>
          ))}
        </ol>
      </>
    );
  },
);

function isRunning({ status }: FixityCheck): boolean {
  return status === "processing";
}

/** A check as it is now; the same where it has ended or cannot be read. */
async function readAgain(account: string, shown: ShownCheck, signal: AbortSignal): Promise<ShownCheck> {
  const { bucket, task_id } = shown.check;
  if (!isRunning(shown.check)) return shown;
  const { status, json } = await callStorageApi("/buckets/:bucket/fixity/:task_id", account, { bucket, task_id }, {
    signal,
  });
  return status === 200 ? { check: fixityCheckOf(json, bucket), expected: shown.expected } : shown;
}
