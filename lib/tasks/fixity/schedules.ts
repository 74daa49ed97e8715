import { Cron } from "croner";
import { randomUUID } from "node:crypto";
import { parse } from "yaml";
import { z } from "zod";
import { resolveLogin } from "@/lib/auth/admission.ts";
import type { Caller, Identify } from "@/lib/auth/store_credentials.ts";
import type { RequestLog } from "@/lib/http/app.ts";
import { HttpError, sentenceOf } from "@/lib/http/errors.ts";
import { redactText } from "@/lib/http/request_context.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import { codedSentence } from "@/lib/std/coded.ts";
import { DNS_LABEL, errorReason } from "@/lib/std/text.ts";
import { atMostEvery } from "@/lib/std/timing.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";
import { LONG_LIFETIME, storedSentence, type Task } from "@/lib/tasks/task.ts";
import { ownerOf, readableProgress, type TaskClock } from "@/lib/tasks/task_keys.ts";
import { isTransient } from "@/lib/tasks/task_responses.ts";
import type { FoundTask, TaskRunner } from "@/lib/tasks/task_runner.ts";
import { FIXITY, type FixityProgress, hasAllRows } from "./fixity.ts";
import { fixityOrder, mustFitTogether, REMOVED_SENTENCE, startFixity } from "./start_fixity.ts";

/** Most schedules of a file. */
const MAX_SCHEDULES = 100;

const name = z.string().regex(DNS_LABEL, "must be of a-z, 0-9 and hyphens, at most 63 characters");
const timeZone = z.string().refine(
  (zone) => works(() => new Intl.DateTimeFormat("en", { timeZone: zone })),
  "is no time zone, such as Europe/Stockholm",
);
const text = z.string().min(1);

const login = z.strictObject({
  /** The tenant may precede the name: `tenant/user`. */
  username: text,
  tenant: text.optional(),
  password: z.string(),
}).refine((login) => works(() => resolveLogin(login)), "has no name of a tenant");

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
type FixitySchedule = Omit<z.output<typeof schedule>, "login"> & { readonly login: z.output<typeof login> };

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
    try {
      mustFitTogether(rest);
    } catch (error) {
      throw error instanceof HttpError ? new ScheduleFileError(`${at}.${error.message}`) : error;
    }
    if (cronOf(rest) === null) throw new ScheduleFileError(`${at}.cron: is no cron expression, such as "0 2 * * 0"`);
    if (timeAfter(rest, Date.now()) === null) throw new ScheduleFileError(`${at}.cron: never comes`);
    return { ...rest, login: data.logins[loginName] };
  });
}

/** The first time of a schedule behind a moment, ms since 1970; null: none. */
export function timeAfter(schedule: Pick<FixitySchedule, "cron" | "time_zone">, after: number): number | null {
  return cronOf(schedule)?.nextRun(new Date(after))?.getTime() ?? null;
}

function cronOf({ cron, time_zone }: Pick<FixitySchedule, "cron" | "time_zone">): Cron | null {
  try {
    return new Cron(cron, { timezone: time_zone, mode: "5-part", paused: true });
  } catch {
    return null;
  }
}

/** Whether a function does not throw. */
function works(work: () => unknown): boolean {
  try {
    work();
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

/** A baseline's rows must be there for so much longer, ms: they are copied at the start. */
const ROWS_MARGIN_MS = 3_600_000;

/** Interval between two evaluations of the schedules, ms. */
export const LOOK_MS = 20_000;
/** Delay before a failed start, or one of another process that did not finish, is retried, ms. */
const RETRY_MS = 60_000;
/** Retries of a start end after this time, ms. */
const GIVE_UP_MS = 12 * 3_600_000;
const REPORT_MS = 60_000;

/** State of a schedule, shared by the processes with one task store. Times are ms since 1970. */
const note = z.object({
  /** Times up to it have had their check; where none has, when the schedule was first seen. */
  due: z.int(),
  /** The last check; null: none. Its id is chosen before it is started, so that it is started once. */
  task: z.string().nullable(),
  /** `starting`: it may not be in the store of tasks yet. */
  state: z.enum(["waiting", "starting", "started", "failed"]),
  /** When it was last tried to be started. */
  triedAt: z.int(),
  /** Why it was not started. */
  error: z.string().nullable(),
  /** When a check of the schedule last ended by itself. */
  succeededAt: z.int().nullable(),
});
type ScheduleNote = z.output<typeof note>;

/** The name of the note of a schedule. */
const noteName = (schedule: string) => `fixity/${schedule}`;

/** Null for none, and for one of another version. */
function readNote(text: string | null): ScheduleNote | null {
  return text === null ? null : note.safeParse(parsedJson(text)).data ?? null;
}

interface FixitySchedulesOptions {
  readonly schedules: readonly FixitySchedule[];
  readonly identify: Identify;
  readonly s3: S3;
  readonly tasks: TaskRunner;
  readonly clock: TaskClock;
  /** ms since 1970 */
  readonly now: () => number;
  readonly log: Pick<RequestLog, "write">;
  /** Called where a check could not be started, and is not tried again. Must never throw. */
  readonly onFailure: (failure: FailedStart) => Promise<void>;
}

/** A check that could not be started. */
export interface FailedStart {
  /** Id that the check would have had. */
  readonly id: string;
  readonly schedule: FixitySchedule;
  readonly error: string;
}

/** How a schedule is. Times are ms since 1970. */
export interface ScheduleFigures {
  readonly name: string;
  /** When a check of it last ended by itself; null: none has. */
  readonly succeededAt: number | null;
  /** Whether its last check failed, or could not be started. */
  readonly isFailing: boolean;
}

/** A schedule as its account sees it, or an administrator. */
export interface ScheduleView {
  readonly schedule: FixitySchedule;
  /** `tenant/user` or `user`. */
  readonly account: string;
  /** Whether it is the account of the caller. */
  readonly isOwn: boolean;
  readonly nextAt: number | null;
  readonly note: ScheduleNote | null;
  /** The last check; null where there is none, its record is gone, or another password of the caller started it. */
  readonly last: FoundTask<FixityProgress> | null;
}

/**
 * Starts checks at the times of schedules. Of the processes with one store of tasks, one starts each: what was started is a
 * note in that store, which is changed only by a process that has seen it as it is. Times that passed while no process ran
 * lead to one check at the next start.
 */
export class FixitySchedules {
  readonly #stop = new AbortController();
  readonly #figures = new Map<string, ScheduleFigures>();
  readonly #mayReport = atMostEvery(REPORT_MS);
  #loop: Promise<void> | null = null;

  constructor(private readonly options: FixitySchedulesOptions) {}

  /** State at the last evaluation. */
  get figures(): readonly ScheduleFigures[] {
    return [...this.#figures.values()];
  }

  start(): void {
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#loop;
  }

  /**
   * Those whose login is of a caller's account, and all of its tenant for those who administer it: at the system level
   * those of all tenants.
   *
   * @param administers asked only where there are schedules of others
   */
  async list(caller: Caller, administers: () => Promise<boolean>): Promise<ScheduleView[]> {
    const { schedules } = this.options;
    const near = schedules.filter((schedule) => caller.tenant === null || isOfTenant(schedule, caller.tenant));
    const showsAll = near.some((schedule) => !isOfAccount(schedule, caller)) && await administers();
    const views: ScheduleView[] = [];
    for (const schedule of near) {
      const isOwn = isOfAccount(schedule, caller);
      if (isOwn || showsAll) views.push(await this.#view(schedule, isOwn ? caller : null));
    }
    return views;
  }

  /** @param owner null: the caller administers it */
  async #view(schedule: FixitySchedule, owner: Caller | null): Promise<ScheduleView> {
    const { tasks, now } = this.options;
    const { tenant, username } = resolveLogin(schedule.login);
    const note = readNote(await tasks.store.readNote(noteName(schedule.name)));
    return {
      schedule,
      account: tenant === null ? username : `${tenant}/${username}`,
      isOwn: owner !== null,
      note,
      last: note?.task ? await this.#found(schedule, note.task, owner) : null,
      nextAt: timeAfter(schedule, now()),
    };
  }

  /** A check of an owner, or for an administrator one that the schedule has started. */
  async #found({ bucket, name }: FixitySchedule, id: string, owner: Caller | null) {
    const { store, keys } = this.options.tasks;
    const task = await store.get(id);
    if (task?.kind !== FIXITY.kind || task.bucket !== bucket) return null;
    const progress = readableProgress(FIXITY, task, keys);
    if (!progress) return null;
    const isTheirs = owner ? task.owner === ownerOf(owner, keys) : progress.request.schedule === name;
    return isTheirs ? { task, progress } : null;
  }

  async #run(): Promise<void> {
    const { schedules, clock } = this.options;
    const { signal } = this.#stop;
    while (!signal.aborted) {
      for (const schedule of schedules) {
        if (signal.aborted) return;
        await this.#look(schedule).catch((error) => this.#report(schedule, error));
      }
      await clock.sleep(LOOK_MS, signal);
    }
  }

  async #look(schedule: FixitySchedule): Promise<void> {
    const { tasks: { store }, now } = this.options;
    const name = noteName(schedule.name);
    const text = await store.readNote(name);
    const note = readNote(text);
    const at = now();
    if (!note) {
      const first = { due: at, task: null, state: "waiting", triedAt: at, error: null, succeededAt: null } as const;
      await store.replaceNote(name, text, JSON.stringify(first));
      return this.#note(schedule, first, null);
    }
    const task = note.task ? await store.get(note.task) : null;
    const known = await this.#withSuccess(name, note, task);
    this.#note(schedule, known, task);
    if (known.state === "starting") {
      if (task) await this.#replace(name, known, { ...known, state: "started", error: null });
      else if (at - known.triedAt >= RETRY_MS || at < known.triedAt) await this.#begin(schedule, known, known.task);
      return;
    }
    // A check that is still running keeps the next one waiting.
    if (task?.state === "running") return;
    // A clock that was set back must not end a schedule.
    const due = timeAfter(schedule, Math.min(known.due, at));
    if (due !== null && due <= at) await this.#begin(schedule, known, null);
  }

  /** Notes the end of a check, which may be forgotten before the next one. */
  async #withSuccess(name: string, note: ScheduleNote, task: Task | null): Promise<ScheduleNote> {
    const endedAt = task?.state === "ready" ? task.endedAt : null;
    if (endedAt === null || endedAt === note.succeededAt) return note;
    const changed = { ...note, succeededAt: endedAt };
    await this.#replace(name, note, changed);
    return changed;
  }

  /** Starts a check unless another process is doing so. @param taken the id of a start that did not finish */
  async #begin(schedule: FixitySchedule, note: ScheduleNote, taken: string | null): Promise<void> {
    const { tasks, s3, now } = this.options;
    const name = noteName(schedule.name);
    const at = now();
    const id = taken ?? randomUUID();
    const due = taken === null ? at : note.due;
    const claimed: ScheduleNote = { ...note, due, task: id, state: "starting", triedAt: at };
    if (!await this.#replace(name, note, claimed)) return;
    try {
      const caller = await this.#caller(schedule);
      const baseline = schedule.baseline === null ? null : await this.#lastCheck(schedule, caller);
      const order = { ...schedule, baseline };
      await startFixity({ s3, tasks }, caller, schedule.bucket, order, { schedule: schedule.name, id });
      await this.#replace(name, claimed, { ...claimed, state: "started", error: null });
    } catch (error) {
      const sentence = error instanceof HttpError ? sentenceOf(error) : codedSentence("task_internal_error");
      if (!(error instanceof HttpError)) this.#report(schedule, error);
      const passes = isTransient(error) && at - due < GIVE_UP_MS;
      const failed: ScheduleNote = {
        ...claimed,
        state: passes ? "starting" : "failed",
        error: storedSentence(sentence),
      };
      const isNoted = await this.#replace(name, claimed, failed);
      this.#note(schedule, failed, null);
      if (!passes && isNoted) await this.options.onFailure({ id, schedule, error: sentence.text });
    }
  }

  #replace(name: string, before: ScheduleNote, after: ScheduleNote): Promise<boolean> {
    return this.options.tasks.store.replaceNote(name, JSON.stringify(before), JSON.stringify(after));
  }

  /** The caller of a schedule's login. @throws HttpError 401, 422 */
  async #caller({ login: { username, tenant, password } }: FixitySchedule): Promise<Caller> {
    const login = resolveLogin({ username, tenant });
    return await this.options.identify({ sub: login.username, pwd: password, tenant: login.tenant });
  }

  /** The last check of a schedule that can be a baseline; null: none, as for the first one. */
  async #lastCheck({ name, bucket }: FixitySchedule, caller: Caller): Promise<string | null> {
    const { tasks } = this.options;
    const found = await tasks.list(FIXITY, bucket, ownerOf(caller, tasks.keys));
    // Its rows are removed long before its totals: those of an older check may be gone before they are read.
    const oldest = this.options.now() - LONG_LIFETIME.blobsTtlMs + ROWS_MARGIN_MS;
    const last = found.find(({ task: { state, endedAt }, progress }) =>
      state === "ready" && (endedAt ?? 0) > oldest && progress.request.schedule === name && hasAllRows(progress)
    );
    return last?.task.id ?? null;
  }

  #note({ name }: FixitySchedule, { state, succeededAt, error }: ScheduleNote, task: Task | null): void {
    const isFailing = state === "failed" || (state === "starting" && error !== null) || task?.state === "failed";
    this.#figures.set(name, { name, succeededAt, isFailing });
  }

  #report({ name }: FixitySchedule, error: unknown): void {
    if (!this.#mayReport()) return;
    const message = `fixity schedule ${name}: ${errorReason(error)}`;
    this.options.log.write({ level: "warn", message: redactText(message) });
  }
}

/** Whether a schedule's account is that of a caller. */
function isOfAccount(schedule: FixitySchedule, caller: Caller): boolean {
  return isOfTenant(schedule, caller.tenant) && resolveLogin(schedule.login).username === caller.username;
}

function isOfTenant({ login }: FixitySchedule, tenant: string | null): boolean {
  return resolveLogin(login).tenant?.toLowerCase() === tenant?.toLowerCase();
}
