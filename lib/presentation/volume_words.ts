import type { VolumeView } from "@/lib/campaigns/projection/types.ts";
import type { Chip } from "./campaign_state.ts";
import { formatAge } from "./durations.ts";
import { failureSentences, forbiddenSentence, stageWords, unexplainedFailure } from "./problem_sentences.ts";

/** Seconds without a sign of life after which a running volume looks stalled. */
const STALLED_SECONDS = 1800;

/** A line below a volume's name. */
interface VolumeLine {
  readonly text: string;
  readonly bad: boolean;
}

/** What stands below a volume's name: what it does and since when, why it failed, that it may not be read. */
export function volumeLines(volume: VolumeView): VolumeLine[] {
  if (volume.forbidden) return [{ text: forbiddenSentence(), bad: true }];
  const lines: VolumeLine[] = [];
  const activity = activityOf(volume);
  if (activity) lines.push(activity);
  const isFinal = volume.state === "failed";
  if (volume.reason && volume.state !== "done") {
    lines.push({ text: failureSentences(volume.reason, isFinal), bad: true });
  } else if (isFinal) lines.push({ text: unexplainedFailure(), bad: true });
  return lines;
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
      return { text: "active", tone: isStalled(volume) ? "warn" : "run" };
    case "done":
      return (volume.progress?.failed ?? 0) > 0
        ? { text: "done", tone: "warn", title: "Some of its pages failed" }
        : { text: "done", tone: "done" };
    case "failed":
      return { text: "failed", tone: "bad" };
    case "pending":
      return { text: "pending", tone: "idle" };
    case "unknown":
      return { text: "unknown", tone: "idle" };
  }
}

function activityOf(volume: VolumeView): VolumeLine | null {
  if (volume.state !== "active" && volume.state !== "unknown") return null;
  const words = stageWords(volume.progress?.stage ?? null);
  const age = volume.progress?.ageSeconds ?? null;
  if (isStalled(volume) && age !== null) {
    return { text: `no update for ${formatAge(age).replace(" ago", "")}: may be stalled`, bad: true };
  }
  const parts = [words, age === null ? "" : `updated ${formatAge(age)}`].filter(Boolean);
  return parts.length > 0 ? { text: parts.join(" · "), bad: false } : null;
}

function isStalled({ state, progress }: VolumeView): boolean {
  return state === "active" && (progress?.ageSeconds ?? 0) >= STALLED_SECONDS;
}
