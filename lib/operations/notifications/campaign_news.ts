import { createHash } from "node:crypto";
import { z } from "zod";
import type { JobSummary } from "@/lib/campaigns/projection/types.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";
import { type EventType, type NotificationEvent, notificationEvent } from "./event.ts";
import type { Notifier } from "./notifier.ts";

/** The facts about a campaign that notifications report. */
export interface CampaignState
  extends Pick<JobSummary, "namespace" | "name" | "pipeline" | "createdAt" | "finishedAt"> {
  readonly phase: string;
  readonly counts: Pick<JobSummary["counts"], "total" | "done" | "failed">;
  readonly warmup: { readonly phase: string };
  /** Whether nothing about it moves any more. */
  readonly isEnded: boolean;
  /** Whether a person must act, as the list of campaigns says. */
  readonly isInTrouble: boolean;
  /** The page that shows it; null where the address of the site is not known. */
  readonly link: string | null;
}

/** `trouble`: it has not ended. */
type Seen = "quiet" | "trouble" | "ended";

/** The last seen states of campaigns, by their keys. */
interface Remembered {
  /** When something in it changed last, ms since 1970. */
  readonly at: number;
  readonly seen: ReadonlyMap<string, Seen>;
}

/** Most campaigns that are remembered, the newest of them. */
export const MAX_REMEMBERED = 10_000;
/** The cluster's clock may differ from ours by so much, ms. */
const CLOCK_DIFFERENCE_MS = 600_000;

/**
 * Compares campaigns with the states that were seen before. Without that nothing is news. A campaign that was not seen before
 * and has ended is news if it ended since.
 *
 * @param campaigns all of them, newest first
 * @param wants whether events of a type are sent
 * @param now ms since 1970
 * @returns the events, and the states to remember: the same object where nothing has changed
 */
export function campaignNews(
  before: Remembered | null,
  campaigns: readonly CampaignState[],
  wants: (type: EventType) => boolean,
  now: number,
): { readonly events: readonly NotificationEvent[]; readonly remembered: Remembered } {
  const seen = new Map<string, Seen>();
  const events: NotificationEvent[] = [];
  for (const campaign of campaigns.slice(0, MAX_REMEMBERED)) {
    const key = keyOf(campaign);
    const state = stateOf(campaign);
    seen.set(key, state);
    if (before === null || state === "quiet" || before.seen.get(key) === state) continue;
    if (state === "ended" && !before.seen.has(key) && !isSince(campaign.finishedAt, before.at)) continue;
    events.push(eventOf(campaign, key, wants, now));
  }
  const isSame = before !== null && before.seen.size === seen.size &&
    seen.entries().every(([key, state]) => before.seen.get(key) === state);
  return { events, remembered: isSame ? before : { at: now, seen } };
}

/** The remembered states as a text. */
export function rememberedText({ at, seen }: Remembered): string {
  return JSON.stringify({ at, seen: Object.fromEntries(seen) });
}

/** The reverse; null where it is missing or damaged, so that nothing before is news. */
export function readRemembered(text: string | null): Remembered | null {
  const { data } = REMEMBERED.safeParse(text === null ? null : parsedJson(text));
  return data ? { at: data.at, seen: new Map(Object.entries(data.seen)) } : null;
}

const REMEMBERED = z.object({ at: z.number(), seen: z.record(z.string(), z.enum(["quiet", "trouble", "ended"])) });

function stateOf({ isEnded, isInTrouble }: CampaignState): Seen {
  if (isEnded) return "ended";
  return isInTrouble ? "trouble" : "quiet";
}

/** A campaign that is created again under a name is another one. */
function keyOf({ namespace, name, createdAt }: CampaignState): string {
  return createHash("sha256").update(JSON.stringify([namespace, name, createdAt])).digest("base64url").slice(0, 22);
}

function isSince(time: string | null, ms: number): boolean {
  return time !== null && Date.parse(time) >= ms - CLOCK_DIFFERENCE_MS;
}

/** An end in trouble is one event: trouble where that is sent, so that those who want to hear of trouble alone hear of it. */
function eventOf(
  campaign: CampaignState,
  key: string,
  wants: (type: EventType) => boolean,
  now: number,
): NotificationEvent {
  const { namespace, name, pipeline, phase, counts, finishedAt, link, isEnded, isInTrouble } = campaign;
  const warmup = campaign.warmup.phase;
  const endedAt = Date.parse(finishedAt ?? "");
  const volumes = `${counts.done} of ${counts.total} volumes are done, ${counts.failed} failed`;
  const lack = WARMUPS[warmup] ?? null;
  const state = isEnded ? `has ended: ${PHASES[phase] ?? phase}` : `is in trouble: its warm-up ${lack ?? warmup}`;
  return notificationEvent({
    type: isInTrouble && (!isEnded || wants("campaign.trouble")) ? "campaign.trouble" : "campaign.ended",
    identity: [key, isEnded ? "ended" : `warm-up ${warmup}`],
    at: isEnded && Number.isFinite(endedAt) ? endedAt : now,
    subject: `Campaign ${name} ${state}`,
    summary: `The campaign ${name} in ${namespace} ${state}. ${volumes}.${
      isEnded && lack ? ` Its warm-up ${lack}.` : ""
    }`,
    link,
    data: {
      namespace,
      name,
      pipeline,
      phase,
      ended: isEnded,
      total: counts.total,
      done: counts.done,
      failed: counts.failed,
      warmup,
    },
  });
}

const PHASES: Readonly<Record<string, string>> = {
  Succeeded: "it succeeded",
  PartiallyFailed: "it failed in part",
  Failed: "it failed",
  Unknown: "how is not known",
};
const WARMUPS: Readonly<Record<string, string>> = { failed: "failed", missing: "is not there" };

const NOTE = "campaigns";

interface CampaignLookOptions {
  readonly notifier: Pick<Notifier, "notify" | "remember" | "remembered" | "wants">;
  /** All campaigns, newest first; throws where the cluster cannot be read. */
  readonly read: () => Promise<readonly CampaignState[]>;
  /** ms since 1970 */
  readonly now: () => number;
}

/** Returns what reports how campaigns have changed since the look before, of an earlier process too. It never throws. */
export function campaignLook({ notifier, read, now }: CampaignLookOptions): () => Promise<void> {
  /** Undefined before the first look. */
  let known: Remembered | null | undefined;
  return async function look() {
    known ??= readRemembered(await notifier.remembered(NOTE));
    let campaigns: readonly CampaignState[];
    try {
      campaigns = await read();
    } catch {
      // The probe of the readiness and the metrics report it.
      return;
    }
    const { events, remembered } = campaignNews(known, campaigns, (type) => notifier.wants(type), now());
    for (const event of events) await notifier.notify(event);
    if (remembered === known) return;
    known = remembered;
    // After the events: a process that ends between the two finds them again, and they are known by their ids.
    await notifier.remember(NOTE, rememberedText(remembered));
  };
}
