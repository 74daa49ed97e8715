import { useSignal } from "@preact/signals";

import { Meter } from "@/components/meter.tsx";
import { SmallButton } from "@/components/chip.tsx";
import type { UploadEngine } from "@/lib/client/storage/upload/upload_engine.ts";
import type { UploadsStore } from "@/lib/client/storage/upload/uploads_store.ts";
import type { Tone } from "@/lib/presentation/campaign_state.ts";
import { formatSpan } from "@/lib/presentation/moments.ts";
import { formatBytes } from "@/lib/presentation/storage/file_sizes.ts";
import { UPLOAD_HEADS, UPLOAD_LABELS } from "@/lib/presentation/storage/upload_sentences.ts";
import { ChoiceNotices, TakenQuestion, UploadNotices } from "./upload_notices.tsx";
import { UploadRow } from "./upload_row.tsx";

/** Files that are shown at first, and with each further step: thousands of rows would slow the page. */
const SHOWN_ROWS = 50;

type ShownEngine =
  & Pick<UploadEngine, "items" | "routes" | "bytes" | "sentBytes" | "isBusy" | "isPaused" | "isAway" | "halted">
  & Pick<UploadEngine, "count" | "answer" | "pause" | "resume" | "retryFailed" | "cancelAll">
  & Pick<UploadEngine, "pauseItem" | "resumeItem" | "cancelItem">
  & { readonly pace: Pick<UploadEngine["pace"], "rate"> };

interface UploadListProps {
  readonly store:
    & Pick<UploadsStore, "version" | "percent" | "sorted" | "choice" | "allowing" | "allowDirect" | "clear">
    & { readonly engine: ShownEngine };
  readonly bucket: string;
}

/** The uploads of a page: how fast they go, what concerns all of them, and each file with what can be done. */
export function UploadList({ store, bucket }: UploadListProps) {
  const most = useSignal(SHOWN_ROWS);
  // Read, so that the list is drawn again whenever something has changed.
  void store.version.value;
  const { engine } = store;
  const { isPaused, halted, bytes } = engine;
  const percent = store.percent;
  /** Whether nothing moves before the reader has answered for names in use. */
  const isAsking = !engine.isBusy && engine.count("taken") > 0;
  const items = store.sorted();
  const shown = items.slice(0, most.value);
  const events = {
    onPause: (item: typeof items[number]) => engine.pauseItem(item),
    onResume: (item: typeof items[number]) => engine.resumeItem(item),
    onCancel: (item: typeof items[number]) => void engine.cancelItem(item),
  };
  return (
    <>
      {(!isAsking || engine.count("failed") > 1) && (
        <div class="controls">
          <p>{paceOf(engine)}</p>
          {engine.count("failed") > 1 && (
            <SmallButton
              label={UPLOAD_LABELS.tryAllAgain}
              onClick={() => engine.retryFailed()}
            />
          )}
          {isPaused && engine.isBusy
            ? <SmallButton label={UPLOAD_LABELS.goOn} onClick={() => engine.resume()} />
            : engine.isBusy && halted === null && (
              <SmallButton
                label={UPLOAD_LABELS.pauseAll}
                onClick={() => engine.pause()}
              />
            )}
          {engine.isBusy && (isPaused || halted !== null) && (
            <SmallButton
              label={UPLOAD_LABELS.cancelAll}
              onClick={() => void engine.cancelAll()}
            />
          )}
          {!engine.isBusy && engine.count("taken") === 0 && (
            <SmallButton
              label={UPLOAD_LABELS.close}
              onClick={() => store.clear()}
            />
          )}
        </div>
      )}
      {items.length > 0 && !isAsking && (
        <Meter
          parts={[{ count: percent, tone: toneOf(engine) }]}
          total={100}
          label={UPLOAD_LABELS.sentMeter(percent, formatBytes(bytes))}
        />
      )}
      <TakenQuestion engine={engine} />
      <ChoiceNotices chosen={store.choice.value} />
      <UploadNotices store={store} bucket={bucket} />
      <ul>
        {shown.map((item) => <UploadRow key={item.id} item={item} isAllPaused={isPaused} events={events} />)}
        {items.length > shown.length && (
          <li class="more">
            <SmallButton
              label={UPLOAD_LABELS.showMore(Math.min(SHOWN_ROWS, items.length - shown.length))}
              onClick={() => most.value += SHOWN_ROWS}
            />
          </li>
        )}
      </ul>
    </>
  );
}

/** Red says that a person must act: as long as something moves, its own row says that of a file that failed. */
function toneOf(engine: ShownEngine): Tone {
  if (engine.halted !== null) return "bad";
  if (engine.isBusy) return "run";
  return engine.count("failed") > 0 ? "bad" : "done";
}

/** How fast it goes, and how long it will take; "" while nothing moves. */
function paceOf(engine: ShownEngine): string {
  const isMoving = engine.isBusy && !engine.isPaused && engine.halted === null && !engine.isAway;
  const rate = isMoving ? engine.pace.rate(Date.now()) : null;
  if (rate === null || rate === 0) return "";
  const seconds = (engine.bytes - engine.sentBytes) / rate;
  const left = seconds < 60 ? UPLOAD_HEADS.timeLeftShort : UPLOAD_HEADS.timeLeft(formatSpan(seconds));
  return `${UPLOAD_HEADS.rate(formatBytes(rate))} · ${left}`;
}
