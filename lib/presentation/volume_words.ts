import type { VolumeView } from "@/lib/campaigns/projection/types.ts";
import type { Chip } from "./campaign_state.ts";
import { formatAge, formatSpan } from "./durations.ts";
import { counted } from "@/lib/presentation/locale/figures.ts";
import { failureWords, forbiddenSentence, stageWords, UNEXPLAINED_FAILURE } from "./problem_sentences.ts";

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
  if (volume.forbidden) return { text: forbiddenSentence(), raw: null };
  if (state === "failed") return reason ? failureWords(reason, true) : UNEXPLAINED_FAILURE;
  if (state === "active") return activity(volume, now);
  const age = ageAt(volume, now);
  const ended = state === "done" && age !== null ? `Ended ${formatAge(age)}` : "";
  if (state === "done" && progress?.lastError) {
    const { page, error } = progress.lastError;
    const lost = `${page === null ? "A page" : `Page ${page}`} was lost: ${error.replace(/\s+/g, " ").trim()}`;
    return { text: ended ? `${lost} · ${ended.toLowerCase()}` : lost, raw: null };
  }
  return { text: state === "unknown" ? "How it ended is not recorded." : ended, raw: null };
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
        ? { text: "active", tone: "run", live: true }
        : { text: "stalled", tone: "warn", title: "Active, but its progress stands still" };
    case "done": {
      const lost = volume.progress?.failed ?? 0;
      return lost > 0
        ? { text: `done, ${counted(lost, "page", "pages")} lost`, tone: "warn" }
        : { text: "done", tone: "done" };
    }
    case "failed":
      return { text: "failed", tone: "bad" };
    case "pending":
      return { text: "waiting", tone: "idle" };
    case "unknown":
      return { text: "unknown", tone: "idle" };
  }
}

function activity(volume: VolumeView, now: number | null): VolumeSentence {
  const { reason, progress, stalledSince } = volume;
  if (reason) return failureWords(reason, false);
  const age = ageAt(volume, now);
  const words = stageWords(progress?.stage ?? null);
  if (stalledSince !== null && (age !== null || now === null)) {
    const span = age === null ? "" : ` for ${formatSpan(age)}`;
    const stage = words && ` while ${words}`;
    return { text: `No progress${span}${stage}: its run log may say why.`, raw: null };
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
