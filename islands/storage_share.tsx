import { useSignal } from "@preact/signals";
import type { encode } from "uqr";

import { type ShareableObject, type SharedLink, ShareLink } from "@/components/storage/share_link.tsx";
import { island } from "@/lib/pages/browser/island.tsx";
import { readerMoments } from "@/lib/pages/browser/reader_moments_client.ts";
import { loadCode } from "@/lib/pages/browser/load_code_client.tsx";
import { callStorageApi } from "@/lib/pages/storage/storage_api_client.ts";
import { SHARE_LABELS, SHARE_SENTENCES, shareProblem } from "@/lib/pages/storage/object_sentences.ts";

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
      problem.value = shareProblem(created);
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

  return (
    <form class="sharing" onSubmit={create}>
      <p class="remark">{SHARE_SENTENCES.whatItIs}</p>
      <p class="remark without-scripts">{SHARE_SENTENCES.needsScripts}</p>
      <div class="choices needs-scripts">
        <label>
          {SHARE_LABELS.validFor}{" "}
          <select value={choice.value} onChange={({ currentTarget: { value } }) => choice.value = Number(value)}>
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
      {link.value && (
        <ShareLink
          object={object}
          link={link.value}
          copied={copied.value}
          encoder={encoder.value}
          style={readerMoments()}
          onCopy={(text) => void copy(text)}
        />
      )}
    </form>
  );
});

/** Creates a link that is valid for some seconds. @returns the status of the gateway where it created none */
async function createLink(
  { account, bucket, key }: ShareableObject,
  seconds: number,
): Promise<SharedLink | number> {
  const before = Date.now();
  const { status, json } = await callStorageApi<{ readonly url: string }>("/presign", account, {}, {
    method: "POST",
    json: { bucket, key, expires_in: seconds },
  });
  return status === 200 ? { url: json.url, until: new Date(before + seconds * 1000).toISOString() } : status;
}
