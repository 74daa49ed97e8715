import { LRUCache } from "lru-cache";
import { bagView, damageOf, type FixityProgress } from "@/lib/tasks/fixity/fixity.ts";
import type { EndedTask } from "@/lib/tasks/task_keys.ts";
import { notificationEvent } from "./event.ts";
import type { Notifier } from "./notifier.ts";

/** Events about the checks of one login within {@link WINDOW_MS}; those of schedules have no bound. */
const MAX_EVENTS = 10;
const WINDOW_MS = 3_600_000;
/** Logins whose events are counted at a time. */
const MAX_OWNERS = 1000;

/** A fixity check that has ended, or that a schedule could not start. Names in it may be hostile. */
export interface EndedCheck extends Pick<EndedTask<FixityProgress>, "id" | "owner" | "tenant" | "bucket" | "error"> {
  readonly prefix: string;
  /** Name of the schedule that asked for it; null: a user did. */
  readonly schedule: string | null;
  /** Null: it could not be started. */
  readonly progress: FixityProgress | null;
}

interface FixityNewsOptions {
  readonly notifier: Pick<Notifier, "notify">;
  /** The page that shows a check; null where the address of the site is not known. */
  readonly linkOf: (check: EndedCheck) => string | null;
  /** ms since 1970 */
  readonly now: () => number;
}

/**
 * Returns what reports fixity checks that have ended: `fixity.report` with damage or failed, else `fixity.clean`. It never
 * throws.
 */
export function fixityNews({ notifier, linkOf, now }: FixityNewsOptions): (check: EndedCheck) => Promise<void> {
  /** When events about the checks of a login were sent, ms since 1970. */
  const sent = new LRUCache<string, number[]>({ max: MAX_OWNERS });

  /** Any user can start checks that fail: they must not drown other events. */
  function mayTell(owner: string): boolean {
    const at = now();
    const recent = (sent.get(owner) ?? []).filter((earlier) => earlier > at - WINDOW_MS && earlier <= at);
    if (recent.length >= MAX_EVENTS) return false;
    sent.set(owner, [...recent, at]);
    return true;
  }

  return async function report(check) {
    if (check.schedule === null && !mayTell(check.owner)) return;
    await notifier.notify(eventOf(check, check.progress?.checkedAt ?? now(), linkOf(check)));
  };
}

function eventOf(
  { id, tenant, bucket, prefix, schedule, error, progress }: EndedCheck,
  at: number,
  link: string | null,
) {
  const { files = 0, bytes = 0, totals, writeError = null } = progress ?? {};
  const { changed = 0, missing = 0, unreadable = 0, not_in_manifest = 0 } = totals ?? {};
  const bag_valid = (progress && bagView(progress)?.valid) ?? null;
  const damaged = totals ? damageOf(totals) : 0;
  const place = prefix === "" ? `bucket ${bucket}` : `${prefix} in bucket ${bucket}`;
  const found = [
    `${files} objects were read`,
    ...damaged > 0 ? [`${changed} are changed, ${missing} missing, ${unreadable} cannot be read`] : [],
    ...not_in_manifest > 0 ? [`${not_in_manifest} are not in the manifest`] : [],
    ...bag_valid === false ? ["the bag is not valid"] : [],
    ...writeError === null ? [] : [writeError],
  ];
  const isClean = error === null && damaged === 0 && bag_valid !== false && writeError === null;
  const outcome = error !== null ? "failed" : damaged > 0 ? `found ${damaged} damaged objects` : "has ended";
  return notificationEvent({
    type: isClean ? "fixity.clean" : "fixity.report",
    identity: [id],
    at,
    subject: `The fixity check of ${place} ${outcome}`,
    summary: `${schedule === null ? "A fixity check" : `The fixity check ${schedule}`} of ${place} ${outcome}: ` +
      `${found.join("; ")}.${error === null ? "" : ` ${error}.`}`,
    link,
    data: {
      task_id: id,
      tenant,
      bucket,
      prefix,
      schedule,
      files,
      bytes,
      damaged,
      changed,
      missing,
      unreadable,
      not_in_manifest,
      bag_valid,
      error,
    },
  });
}
