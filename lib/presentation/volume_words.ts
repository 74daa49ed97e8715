import type { VolumeView } from "@/lib/campaigns/projection/types.ts";
import type { Chip } from "./campaign_state.ts";
import { formatAge, formatSpan } from "./durations.ts";
import { inLanguage } from "@/lib/presentation/locale/language.ts";
import * as en from "@/locales/en/problems.ts";
import * as sv from "@/locales/sv/problems.ts";
import { containerWords, failureWords, PROBLEMS, stageWords, unexplainedFailure } from "./problem_sentences.ts";

const VOLUME_CHIPS = inLanguage({ en: en.VOLUME_CHIPS, sv: sv.VOLUME_CHIPS });

/** What can be said about a volume, in one sentence. */
interface VolumeSentence {
  readonly text: string;
  /** What the cluster or the worker reported, where the text does not contain it. */
  readonly raw: string | null;
}

/**
 * What a volume does and since when, why it failed, which page it lost, that it may not be read; "" for nothing.
 *
 * @param now ms since 1970; null: the sentence is to hold at any time, so it names no age
 */
export function volumeSentence(volume: VolumeView, now: number | null): VolumeSentence {
  const { state, reason, progress } = volume;
  if (volume.forbidden) return { text: PROBLEMS.forbidden, raw: null };
  if (state === "failed") return reason ? failureWords(reason, true) : unexplainedFailure();
  if (state === "active") return activity(volume, now);
  if (volume.final) return reason ? failureWords(reason, true) : { text: PROBLEMS.notFinished, raw: null };
  const age = ageAt(volume, now);
  const ended = state === "done" && age !== null ? PROBLEMS.ended(formatAge(age)) : "";
  if (state === "done" && progress?.lastError) {
    const { page, error } = progress.lastError;
    const lost = PROBLEMS.pageLost(page, error.replace(/\s+/g, " ").trim());
    return { text: ended ? `${lost} · ${ended.toLowerCase()}` : lost, raw: null };
  }
  return { text: state === "unknown" ? PROBLEMS.endUnknown : ended, raw: null };
}

/**
 * The manifest that a volume's name opens: the published one as soon as there is one, before that its source's; null
 * where neither exists or the account may not read the volume (spec, Browser behaviour).
 */
export function volumeManifest({ forbidden, state, progress, iiifUrl, sourceUrl }: VolumeView): string | null {
  if (forbidden) return null;
  return state === "done" || progress?.viewerPublished ? iiifUrl : sourceUrl;
}

/** A volume's state as a word in its colour. */
export function volumeChip(volume: VolumeView): Chip {
  switch (volume.state) {
    case "active":
      return volume.stalledSince === null
        ? { text: VOLUME_CHIPS.active, tone: "run", live: true }
        : { text: VOLUME_CHIPS.stalled, tone: "warn", title: VOLUME_CHIPS.stalledTitle };
    case "done": {
      const lost = volume.progress?.failed ?? 0;
      return lost > 0
        ? { text: VOLUME_CHIPS.doneWithLost(lost), tone: "warn" }
        : { text: VOLUME_CHIPS.done, tone: "done" };
    }
    case "failed":
      return { text: VOLUME_CHIPS.failed, tone: "bad" };
    case "pending":
      return { text: volume.final ? VOLUME_CHIPS.unfinished : VOLUME_CHIPS.waiting, tone: "idle" };
    case "unknown":
      return { text: VOLUME_CHIPS.unknown, tone: "idle" };
  }
}

function activity(volume: VolumeView, now: number | null): VolumeSentence {
  const { reason, progress, stalledSince, containerWaiting } = volume;
  const isFinal = volume.final === true;
  if (reason) return failureWords(reason, isFinal);
  if (containerWaiting) return containerWords(containerWaiting, isFinal);
  const age = ageAt(volume, now);
  const words = stageWords(progress?.stage ?? null);
  if (stalledSince !== null && (age !== null || now === null)) {
    return { text: PROBLEMS.stalled(age === null ? null : formatSpan(age), words || null), raw: null };
  }
  const text = [capital(words), age === null ? "" : formatAge(age)].filter(Boolean).join(" · ");
  return { text, raw: null };
}

/** Seconds since the last progress. Never below the age that was read: the `now` of a page moves once a minute. */
function ageAt({ progress }: VolumeView, now: number | null): number | null {
  const age = progress?.ageSeconds ?? null;
  if (age === null || now === null) return null;
  const text = progress?.updatedAt ?? "";
  // A time without a zone is UTC; an engine takes it for local time.
  const updated = Date.parse(/(?:z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`);
  return Number.isNaN(updated) ? age : Math.max(age, (now - updated) / 1000);
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
