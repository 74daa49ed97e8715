import { Cron } from "croner";
import { parse } from "yaml";
import { z } from "zod";
import { resolveLogin } from "@/lib/auth/login.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { type FixityOrder, fixityOrder, mustFitTogether, REMOVED_SENTENCE } from "./start_fixity.ts";

/** Most schedules of a file. */
const MAX_SCHEDULES = 100;

const NAME = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const name = z.string().regex(NAME, "must be of a-z, 0-9 and hyphens, at most 63 characters");
const timeZone = z.string().refine(isTimeZone, "is no time zone, such as Europe/Stockholm");
const text = z.string().min(1);

const login = z.strictObject({
  /** As in a login: may begin with a tenant and a slash. */
  username: text,
  tenant: text.optional(),
  password: z.string(),
}).refine(isLogin, "has no name of a tenant");

const removed = z.never(REMOVED_SENTENCE).optional();

const schedule = z.strictObject({
  ...fixityOrder.shape,
  write: removed,
  overwrite: removed,
  name,
  login: text,
  bucket: text,
  cron: text,
  time_zone: timeZone.default("UTC"),
  /** `last`: compared with the last check of the schedule that has ended. */
  baseline: z.literal("last").nullable().default(null),
});

const file = z.strictObject({
  logins: z.record(z.string(), login),
  schedules: z.array(schedule).max(MAX_SCHEDULES),
});

/** A schedule with the login that its checks use. */
export type FixitySchedule = Omit<z.output<typeof schedule>, "login"> & { readonly login: z.output<typeof login> };

/** A file of schedules that cannot be used; its message names the member. */
export class ScheduleFileError extends Error {
  override readonly name = "ScheduleFileError";
}

/**
 * Reads a file of schedules: YAML, of which JSON is a part.
 *
 * @throws ScheduleFileError, which quotes nothing of a login
 */
export function parseScheduleFile(content: string): FixitySchedule[] {
  const { data, error } = file.safeParse(document(content));
  if (error) {
    const [{ code, path, message }] = error.issues;
    // The name of an unknown member may be a part of a password that was not quoted.
    const problem = code === "unrecognized_keys" ? "has a member that is not known here" : message;
    throw new ScheduleFileError(`${path.map(String).join(".") || "the file"}: ${problem}`);
  }
  const names = new Set<string>();
  return data.schedules.map(({ login: loginName, ...rest }, index) => {
    const at = `schedules.${index}`;
    if (names.has(rest.name)) throw new ScheduleFileError(`${at}.name: another schedule has this name`);
    names.add(rest.name);
    if (!Object.hasOwn(data.logins, loginName)) throw new ScheduleFileError(`${at}.login: is none of logins`);
    if (rest.baseline !== null && rest.all_versions) {
      throw new ScheduleFileError(`${at}.baseline: cannot be compared with all_versions`);
    }
    if (rest.baseline !== null && !rest.full) throw new ScheduleFileError(`${at}.baseline: needs full: true`);
    const contradiction = contradictionIn(rest);
    if (contradiction !== null) throw new ScheduleFileError(`${at}.${contradiction}`);
    const times = cronOf(rest);
    if (times === null) throw new ScheduleFileError(`${at}.cron: is no cron expression, such as "0 2 * * 0"`);
    if (nextTime(times, Date.now()) === null) throw new ScheduleFileError(`${at}.cron: never comes`);
    return { ...rest, login: data.logins[loginName] };
  });
}

/** What does not fit together, as `member: sentence`; null where all does. */
function contradictionIn(order: FixityOrder): string | null {
  try {
    mustFitTogether(order);
    return null;
  } catch (error) {
    if (error instanceof HttpError) return error.message;
    throw error;
  }
}

/** The first time of a schedule behind a moment, ms since 1970; null: none. */
export function timeAfter(schedule: Pick<FixitySchedule, "cron" | "time_zone">, after: number): number | null {
  const times = cronOf(schedule);
  return times && nextTime(times, after);
}

function nextTime(times: Cron, after: number): number | null {
  return times.nextRun(new Date(after))?.getTime() ?? null;
}

function cronOf({ cron, time_zone }: Pick<FixitySchedule, "cron" | "time_zone">): Cron | null {
  try {
    return new Cron(cron, { timezone: time_zone, mode: "5-part", paused: true });
  } catch {
    return null;
  }
}

function isLogin(login: { username: string; tenant?: string }): boolean {
  try {
    resolveLogin(login);
    return true;
  } catch {
    return false;
  }
}

function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

/** @throws ScheduleFileError */
function document(content: string): unknown {
  try {
    return parse(content, { maxAliasCount: 0 });
  } catch (error) {
    // The message of the package quotes lines of the file.
    const at = error instanceof Error && "linePos" in error ? (error.linePos as { line: number }[])[0]?.line : null;
    throw new ScheduleFileError(`the file is no YAML${at ? `, see line ${at}` : ""}`);
  }
}
