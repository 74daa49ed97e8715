import { LRUCache } from "lru-cache";
import { notificationEvent } from "./event.ts";
import type { Notifier } from "./notifier.ts";

/** Events about the checks of one login within {@link WINDOW_MS}; those of schedules have no bound. */
const MAX_EVENTS = 10;
const WINDOW_MS = 3_600_000;
/** Logins whose events are counted at a time. */
const MAX_OWNERS = 1000;

/** A fixity check that has ended. Names in it may be hostile. */
export interface EndedCheck {
  readonly id: string;
  /** Whose it is, without saying who. */
  readonly owner: string;
  readonly tenant: string | null;
  readonly bucket: string;
  readonly prefix: string;
  /** Name of the schedule that asked for it; null: a user did. */
  readonly schedule: string | null;
  /** Whether there is a check: a schedule may have failed to start it. */
  readonly wasStarted: boolean;
  /** Why it failed; null where it did not. */
  readonly error: string | null;
  readonly files: number;
  readonly bytes: number;
  readonly changed: number;
  readonly missing: number;
  readonly unreadable: number;
  readonly notInManifest: number;
  /** Whether the bag is valid; null where none was checked. */
  readonly bagIsValid: boolean | null;
  /** The output that could not be written; null where all was. */
  readonly writeError: string | null;
  /** ms since 1970 */
  readonly endedAt: number;
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
    await notifier.notify(eventOf(check, linkOf(check)));
  };
}

function eventOf(check: EndedCheck, link: string | null) {
  const { id, tenant, bucket, prefix, schedule, error, files, bytes, changed, missing, unreadable, endedAt } = check;
  const damaged = changed + missing + unreadable;
  const place = prefix === "" ? `bucket ${bucket}` : `${prefix} in bucket ${bucket}`;
  const found = [
    `${files} objects were read`,
    ...damaged > 0 ? [`${changed} are changed, ${missing} missing, ${unreadable} cannot be read`] : [],
    ...check.notInManifest > 0 ? [`${check.notInManifest} are not in the manifest`] : [],
    ...check.bagIsValid === false ? ["the bag is not valid"] : [],
    ...check.writeError === null ? [] : [check.writeError],
  ];
  const isClean = error === null && damaged === 0 && check.bagIsValid !== false && check.writeError === null;
  const outcome = error !== null ? "failed" : damaged > 0 ? `found ${damaged} damaged objects` : "has ended";
  return notificationEvent({
    type: isClean ? "fixity.clean" : "fixity.report",
    identity: [id],
    at: endedAt,
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
      not_in_manifest: check.notInManifest,
      bag_valid: check.bagIsValid,
      error,
    },
  });
}
