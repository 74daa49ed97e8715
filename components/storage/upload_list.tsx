import { useSignal } from "@preact/signals";
import { SmallButton } from "@/components/chip.tsx";
import { Icon, ToolButton } from "@/components/icon.tsx";
import { Meter } from "@/components/meter.tsx";
import { type ChosenFiles, MAX_FILES } from "@/lib/pages/uploads/chosen_files_client.ts";
import type { UploadEngine } from "@/lib/pages/uploads/upload_engine_client.ts";
import { isSettled, type UploadItem } from "@/lib/pages/uploads/upload_items_client.ts";
import type { UploadsStore } from "@/lib/pages/uploads/uploads_store_client.ts";
import type { Tone } from "@/lib/pages/campaigns/campaign_state.ts";
import { formatSpan } from "@/lib/pages/moments.ts";
import { loginPath } from "@/lib/pages/page_paths.ts";
import { formatBytes } from "@/lib/pages/storage/file_sizes.ts";
import { plainName } from "@/lib/pages/storage/key_names.ts";
import {
  faultSentence,
  UPLOAD_HEADS,
  UPLOAD_LABELS,
  UPLOAD_NOTICES,
  UPLOAD_STATES,
} from "@/lib/pages/uploads/upload_sentences.ts";
import { KeyName } from "./key_name.tsx";
import { Notice } from "./left_uploads.tsx";

/** Files that are shown at first, and with each further step: thousands of rows would slow the page. */
const SHOWN_ROWS = 50;

type ShownEngine =
  & Pick<UploadEngine, "isBusy" | "isPaused" | "halted" | "answer" | "pause" | "resume" | "retryFailed" | "cancelAll">
  & Pick<UploadEngine, "pauseItem" | "resumeItem" | "cancelItem">
  & {
    readonly list: Pick<UploadEngine["list"], "items" | "bytes" | "sentBytes" | "count">;
    readonly routes: Pick<UploadEngine["routes"], "known">;
    readonly connection: Pick<UploadEngine["connection"], "isAway">;
    readonly pace: Pick<UploadEngine["pace"], "rate">;
  };

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
  const { isPaused, halted, list: { bytes } } = engine;
  const percent = store.percent;
  /** Whether nothing moves before the reader has answered for names in use. */
  const isAsking = !engine.isBusy && engine.list.count("taken") > 0;
  const items = store.sorted();
  const shown = items.slice(0, most.value);
  return (
    <>
      {(!isAsking || engine.list.count("failed") > 1) && (
        <div class="controls">
          <p>{paceOf(engine)}</p>
          {engine.list.count("failed") > 1 && (
            <SmallButton
              label={UPLOAD_LABELS.tryAllAgain}
              onClick={() => engine.retryFailed()}
            />
          )}
          {engine.isBusy && isPaused && <SmallButton label={UPLOAD_LABELS.goOn} onClick={() => engine.resume()} />}
          {engine.isBusy && !isPaused && halted === null && (
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
          {!engine.isBusy && engine.list.count("taken") === 0 && (
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
        {shown.map((item) => <UploadRow key={item.id} item={item} engine={engine} />)}
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

/** Red means that a person must act. While uploads run, a failed file is red in its own row only. */
function toneOf(engine: ShownEngine): Tone {
  if (engine.halted !== null) return "bad";
  if (engine.isBusy) return "run";
  return engine.list.count("failed") > 0 ? "bad" : "done";
}

/** How fast it goes, and how long it will take; "" while nothing moves. */
function paceOf(engine: ShownEngine): string {
  const isMoving = engine.isBusy && !engine.isPaused && engine.halted === null && !engine.connection.isAway;
  const rate = isMoving ? engine.pace.rate(Date.now()) : null;
  if (rate === null || rate === 0) return "";
  const seconds = (engine.list.bytes - engine.list.sentBytes) / rate;
  const left = seconds < 60 ? UPLOAD_HEADS.timeLeftShort : UPLOAD_HEADS.timeLeft(formatSpan(seconds));
  return `${UPLOAD_HEADS.rate(formatBytes(rate))} · ${left}`;
}

/** A file on its way: its name, how far it is, and what can be done with it. */
function UploadRow({ item, engine }: { readonly item: UploadItem; readonly engine: ShownEngine }) {
  const { path, state, sent, size, fault } = item;
  const { isPaused } = engine;
  const name = plainName(path);
  const percent = size === 0 ? 0 : Math.floor(100 * sent / size);
  const isMoving = (state === "sending" || state === "waiting") && !isPaused;
  const canRetry = state === "failed" && !fault?.isFinal;
  const resume = () => engine.resumeItem(item);
  return (
    <li class={state === "failed" ? "stopped" : undefined} data-state={state}>
      <Icon name="file" />
      <span class="name" title={name}>
        <KeyName name={path} />
      </span>
      <span class="far">
        {!isSettled(item) && (
          <Meter
            parts={[{ count: percent, tone: state === "failed" ? "bad" : "run" }]}
            total={100}
            label={UPLOAD_LABELS.percent(percent)}
          />
        )}
        <span class={state === "failed" ? "sub bad" : "sub"}>{stateText(item, isPaused)}</span>
      </span>
      <span class="buttons">
        {isMoving && (
          <ToolButton
            icon="pause"
            name={UPLOAD_LABELS.pause(name)}
            onClick={() => engine.pauseItem(item)}
          />
        )}
        {state === "paused" && <ToolButton icon="next" name={UPLOAD_LABELS.resume(name)} onClick={resume} />}
        {canRetry && <ToolButton icon="rotate" name={UPLOAD_LABELS.retry(name)} onClick={resume} />}
        {!isSettled(item) && (
          <ToolButton
            icon="close"
            name={UPLOAD_LABELS.cancel(name)}
            onClick={() => void engine.cancelItem(item)}
          />
        )}
        {state === "done" && <span class="chip done">{UPLOAD_STATES.chip}</span>}
      </span>
    </li>
  );
}

function stateText(item: UploadItem, isAllPaused: boolean): string {
  const { state, sent, size, fault, wasThere, batch, path, key } = item;
  const [left, all] = [formatBytes(sent), formatBytes(size)];
  if (isAllPaused && state === "waiting" && sent > 0) return UPLOAD_STATES.paused(left, all);
  switch (state) {
    case "sending":
      return UPLOAD_STATES.sending(left, all);
    case "paused":
      return UPLOAD_STATES.paused(left, all);
    case "done": {
      if (wasThere) return UPLOAD_STATES.wasThere(all);
      const own = key.slice(batch.prefix.length);
      return own === path ? UPLOAD_STATES.done(all) : `${all}, ${UPLOAD_STATES.renamed(plainName(own))}`;
    }
    case "failed":
      return faultSentence(fault ?? { kind: "refused" }, left);
    default:
      return UPLOAD_STATES[state];
  }
}

/** Names in use that are listed. */
const NAMED = 3;

/** The question what happens to names in use: one answer for all. */
function TakenQuestion({ engine }: { readonly engine: ShownEngine }) {
  const taken = engine.list.items.filter(({ state }) => state === "taken");
  if (taken.length === 0) return null;
  const named = taken.slice(0, NAMED);
  return (
    <Notice tone="warn" isUrgent>
      <p>{UPLOAD_NOTICES.taken(named.map(({ path }) => plainName(path)).join(", "), taken.length - named.length)}</p>
      <button class="btn" type="button" onClick={() => engine.answer("replace")}>{UPLOAD_LABELS.replace}</button>
      <button class="btn" type="button" onClick={() => engine.answer("keep both")}>{UPLOAD_LABELS.keepBoth}</button>
      <button class="btn" type="button" onClick={() => engine.answer("skip")}>{UPLOAD_LABELS.skip}</button>
    </Notice>
  );
}

interface UploadNoticesProps {
  readonly store: Pick<UploadsStore, "allowing" | "allowDirect"> & {
    readonly engine: Pick<ShownEngine, "halted" | "connection" | "routes" | "resume">;
  };
  readonly bucket: string;
}

/** Notices: why everything has stopped, that the network is away, and which way the bytes go. */
export function UploadNotices({ store, bucket }: UploadNoticesProps) {
  const { engine } = store;
  const { halted } = engine;
  const route = engine.routes.known;
  return (
    <>
      {halted && (
        <Notice tone="bad" isUrgent={halted.kind !== "outdated"}>
          <p>{faultSentence(halted)}</p>
          {halted.kind === "session" && (
            <a class="btn" href={loginPath("/storage")} target="_blank">{UPLOAD_LABELS.logIn}</a>
          )}
          {/* An outdated page has a banner, an alert with the button that reloads it. */}
          {halted.kind !== "outdated" && (
            <button class="btn" type="button" onClick={() => engine.resume()}>{UPLOAD_LABELS.goOn}</button>
          )}
        </Notice>
      )}
      {engine.connection.isAway && <Notice tone="warn">{UPLOAD_NOTICES.away}</Notice>}
      {route === "no rules" && <Notice>{UPLOAD_NOTICES.noRules}</Notice>}
      {route === "forbidden" && <Notice>{`${UPLOAD_NOTICES.direct(bucket)} ${UPLOAD_NOTICES.forbidden}`}</Notice>}
      {route === "unreachable" && <Notice>{UPLOAD_NOTICES.unreachable}</Notice>}
      {route === "blocked" && (
        <Notice>
          <p>
            {store.allowing.value === "failed"
              ? UPLOAD_NOTICES.notAllowed
              : `${UPLOAD_NOTICES.direct(bucket)} ${UPLOAD_NOTICES.blocked}`}
          </p>
          <button
            class="btn"
            type="button"
            disabled={store.allowing.value === "yes"}
            onClick={() => void store.allowDirect()}
          >
            {store.allowing.value === "yes" ? UPLOAD_LABELS.allowing : UPLOAD_LABELS.allow}
          </button>
        </Notice>
      )}
    </>
  );
}

/** Files of the last choice that could not be taken. */
export function ChoiceNotices({ chosen }: { readonly chosen: ChosenFiles | null }) {
  if (!chosen) return null;
  return (
    <>
      {chosen.files.length === 0 && <Notice tone="warn">{UPLOAD_NOTICES.empty}</Notice>}
      {chosen.isCut && <Notice tone="warn">{UPLOAD_NOTICES.cut(MAX_FILES)}</Notice>}
      {chosen.unreadable > 0 && <Notice tone="warn">{UPLOAD_NOTICES.unreadable(chosen.unreadable)}</Notice>}
    </>
  );
}
