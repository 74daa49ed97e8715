import { useSignal } from "@preact/signals";
import type { encode } from "uqr";

import { QrCode } from "@/components/storage/qr_code.tsx";
import { island } from "@/lib/client/island.tsx";
import { loadCode } from "@/lib/client/storage/load_code.ts";
import { createLink, type SharedLink } from "@/lib/client/storage/shared_link.ts";
import { formatMoment } from "@/lib/presentation/moments.ts";
import { plainName } from "@/lib/presentation/storage/key_names.ts";
import { reachOf } from "@/lib/presentation/storage/reach.ts";
import { awsCommand, curlCommand } from "@/lib/presentation/storage/share_commands.ts";
import { SHARE_LABELS, SHARE_SENTENCES } from "@/lib/presentation/storage/share_sentences.ts";
import { storageProblem } from "@/lib/presentation/storage/storage_sentences.ts";

/** The object, and what is said of it. */
interface ShareableObject {
  readonly account: string;
  readonly bucket: string;
  readonly key: string;
  /** The name of the object in its folder. */
  readonly name: string;
  /** Type and size as people read them. */
  readonly kind: string;
}

interface StorageShareProps {
  readonly shared: ShareableObject;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Longest validity of a presigned URL, seconds. */
const MAX_SECONDS = 7 * DAY;
const OTHER = 0;

/** A link to an object that works without a login for a time, with what its receiver gets. */
export default island("storage_share", function StorageShare({ shared: object }: StorageShareProps) {
  const { bucket, key, name, kind } = object;
  const choice = useSignal(DAY);
  const number = useSignal(2);
  const unit = useSignal(DAY);
  const link = useSignal<SharedLink | null>(null);
  const problem = useSignal("");
  const copied = useSignal("");
  const isBusy = useSignal(false);
  const encoder = useSignal<typeof encode | null>(null);

  const create = async (event: Event) => {
    event.preventDefault();
    const seconds = choice.value === OTHER ? Math.round(number.value * unit.value) : choice.value;
    link.value = null;
    copied.value = "";
    problem.value = seconds >= MINUTE && seconds <= MAX_SECONDS ? "" : SHARE_SENTENCES.outOfRange;
    if (problem.value !== "") return;
    isBusy.value = true;
    const created = await createLink(object, seconds);
    isBusy.value = false;
    if (typeof created === "number") {
      problem.value = PASSING.has(created) ? storageProblem(created, "object") : SHARE_SENTENCES.noUrl(created);
      return;
    }
    link.value = created;
    // The link is good without its code.
    loadCode(() => import("uqr")).then((loaded) => encoder.value = loaded.encode, () => {});
  };

  const copy = async (text: string) => {
    try {
      await navigator.clipboard.writeText(text);
      copied.value = SHARE_SENTENCES.copied;
    } catch {
      copied.value = SHARE_SENTENCES.notCopied;
    }
  };

  const style = { zone: Intl.DateTimeFormat().resolvedOptions().timeZone, now: Date.now() };
  const shared = link.value && { bucket, key, url: link.value.url };
  const reach = link.value && reachOf(link.value.url);
  const aws = shared && awsCommand(shared);
  return (
    <form class="sharing" onSubmit={create}>
      <p class="remark">{SHARE_SENTENCES.whatItIs}</p>
      <p class="remark without-scripts">{SHARE_SENTENCES.needsScripts}</p>
      <div class="choices needs-scripts">
        <label>
          {SHARE_LABELS.validFor}{" "}
          <select
            value={choice.value}
            onChange={({ currentTarget: { value } }) => choice.value = Number(value)}
          >
            <option value={HOUR}>{SHARE_LABELS.hour}</option>
            <option value={DAY}>{SHARE_LABELS.day}</option>
            <option value={MAX_SECONDS}>{SHARE_LABELS.week}</option>
            <option value={OTHER}>{SHARE_LABELS.other}</option>
          </select>
        </label>
        {choice.value === OTHER && (
          <>
            <input
              type="number"
              min="1"
              max="10080"
              step="1"
              required
              value={number.value}
              aria-label={SHARE_LABELS.number}
              onInput={({ currentTarget: { valueAsNumber } }) => number.value = valueAsNumber || 0}
            />
            <select
              value={unit.value}
              aria-label={SHARE_LABELS.unit}
              onChange={({ currentTarget: { value } }) => unit.value = Number(value)}
            >
              <option value={MINUTE}>{SHARE_LABELS.minutes}</option>
              <option value={HOUR}>{SHARE_LABELS.hours}</option>
              <option value={DAY}>{SHARE_LABELS.days}</option>
            </select>
          </>
        )}
        <button class="btn" type="submit" disabled={isBusy.value}>{SHARE_LABELS.create}</button>
      </div>
      {problem.value !== "" && <p class="banner bad" role="alert">{problem.value}</p>}
      {link.value && shared && (
        <>
          <label class="field">
            <span class="sr">{SHARE_LABELS.link}</span>
            <input
              class="vid"
              readonly
              value={link.value.url}
              onFocus={({ currentTarget }) => currentTarget.select()}
            />
            <button type="button" class="btn small" aria-label={SHARE_LABELS.copyLink} onClick={() => copy(shared.url)}>
              {SHARE_LABELS.copy}
            </button>
          </label>
          <p role="status">
            {SHARE_SENTENCES.receiver(plainName(name), kind, formatMoment(link.value.until, style))}{" "}
            {SHARE_SENTENCES.newest} {copied.value}
          </p>
          {reach !== "anywhere" && (
            <p class="banner warn">{reach === "machine" ? SHARE_SENTENCES.machine : SHARE_SENTENCES.network}</p>
          )}
          <p class="btns">
            <button type="button" class="btn small" onClick={() => copy(curlCommand(shared))}>
              {SHARE_LABELS.copyCurl}
            </button>
            {aws !== null && (
              <button type="button" class="btn small" onClick={() => copy(aws)}>{SHARE_LABELS.copyAws}</button>
            )}
          </p>
          {encoder.value && (
            <QrCode
              encoder={encoder.value}
              text={link.value.url}
              label={SHARE_LABELS.qrCode}
              fallback={SHARE_SENTENCES.tooLongForQr}
            />
          )}
        </>
      )}
    </form>
  );
});

/** Statuses with a sentence of their own: the network, the store, its load. */
const PASSING = new Set([0, 403, 429, 502, 503, 504]);
