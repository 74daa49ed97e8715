import { Icon, type IconName } from "@/components/icon.tsx";
import { Meter } from "@/components/meter.tsx";
import type { UploadItem } from "@/lib/client/storage/upload/upload_item.ts";
import { plainName } from "@/lib/presentation/storage/key_names.ts";
import { faultSentence, UPLOAD_LABELS, UPLOAD_STATES } from "@/lib/presentation/storage/upload_sentences.ts";
import { formatBytes } from "@/lib/presentation/storage/file_sizes.ts";
import { KeyName } from "./key_name.tsx";

/** What a reader may do with one file. */
interface UploadRowEvents {
  readonly onPause: (item: UploadItem) => void;
  readonly onResume: (item: UploadItem) => void;
  readonly onCancel: (item: UploadItem) => void;
}

interface UploadRowProps {
  readonly item: UploadItem;
  /** Whether all files are paused together. */
  readonly isAllPaused: boolean;
  readonly events: UploadRowEvents;
}

/** A file on its way: its name, how far it is, and what can be done with it. */
export function UploadRow({ item, isAllPaused, events }: UploadRowProps) {
  const { path, state, sent, size } = item;
  const isPaused = state === "paused";
  const name = plainName(path);
  const percent = size === 0 ? 0 : Math.floor(100 * sent / size);
  return (
    <li class={state === "failed" ? "stopped" : undefined} data-state={state}>
      <Icon name="file" />
      <span class="name" title={name}>
        <KeyName name={path} />
      </span>
      <span class="far">
        {!OVER.has(state) && (
          <Meter
            parts={[{ count: percent, tone: state === "failed" ? "bad" : "run" }]}
            total={100}
            label={UPLOAD_LABELS.percent(percent)}
          />
        )}
        <span class={state === "failed" ? "sub bad" : "sub"}>{stateText(item, isAllPaused)}</span>
      </span>
      <span class="buttons">
        {(state === "sending" || state === "waiting") && !isPaused && !isAllPaused &&
          (
            <RowButton
              icon="pause"
              label={UPLOAD_LABELS.pause(name)}
              onClick={() => events.onPause(item)}
            />
          )}
        {isPaused && (
          <RowButton
            icon="next"
            label={UPLOAD_LABELS.resume(name)}
            onClick={() => events.onResume(item)}
          />
        )}
        {state === "failed" && typeof item.fault !== "string" && (
          <RowButton
            icon="rotate"
            label={UPLOAD_LABELS.retry(name)}
            onClick={() => events.onResume(item)}
          />
        )}
        {!OVER.has(state) && (
          <RowButton
            icon="close"
            label={UPLOAD_LABELS.cancel(name)}
            onClick={() => events.onCancel(item)}
          />
        )}
        {state === "done" && <span class="chip done">{UPLOAD_STATES.chip}</span>}
      </span>
    </li>
  );
}

const OVER: ReadonlySet<UploadItem["state"]> = new Set<UploadItem["state"]>(["done", "skipped", "cancelled"]);

function RowButton({ icon, label, onClick }: {
  readonly icon: IconName;
  readonly label: string;
  readonly onClick: () => void;
}) {
  return (
    <button class="btn square" type="button" aria-label={label} title={label} onClick={onClick}>
      <Icon name={icon} />
    </button>
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
    case "failed": {
      const kind = fault instanceof Error ? fault.kind : fault ?? "refused";
      const detail = fault instanceof Error ? fault.detail : null;
      return faultSentence({ kind, detail, sent: left });
    }
    default:
      return UPLOAD_STATES[state];
  }
}
