import { randomUUID } from "node:crypto";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import type { AuditRecorder } from "@/lib/http/audit_event.ts";
import type { RequestLog } from "@/lib/http/access_log.ts";
import { HttpError, notFound, tooManyRequests, unavailable } from "@/lib/http/errors.ts";
import { redactText } from "@/lib/http/redact.ts";
import { FairSlots } from "@/lib/std/fair_slots.ts";
import { HeldTask, type LeasedTask } from "./held_task.ts";
import { lifetimeOf, LONG_KIND, RENEW_MS, type Task, type TaskEnd } from "./task.ts";
import type { TaskClock } from "./task_clock.ts";
import { TaskEnds } from "./task_ends.ts";
import { failureSentence, INTERNAL_ERROR, isTransient, UNREADABLE_CALLER, UNREADABLE_TASK } from "./task_error.ts";
import type { Job, TaskHandler, TaskType } from "./task_handler.ts";
import { blobDigests, openCaller, ownerOf, sealCaller, type TaskKeys } from "./task_keys.ts";
import { hasFixedBlobs, mustBeSealed, progressOf, progressText } from "./task_progress.ts";
import type { Blobs, TaskBounds, TaskStore } from "./task_store.ts";

/** Tasks that a process works on at a time: in all, and of one owner, so that no owner takes all of them. */
const MAX_RUNNING = 8;
const MAX_RUNNING_PER_OWNER = 4;
/** The same of long kinds, which take days: the other slots are left to the tasks that someone waits for. */
const MAX_LONG_RUNNING = 2;
/**
 * Reads of the object store at a time, of all tasks and downloads of archives of a process. A task or download without a
 * read may have one beyond the limit: at most 7 tasks and 16 downloads more.
 */
const MAX_READS = 20;
/**
 * A process claims no further tasks while it has so many. Counted are running tasks and those that wait for their turn,
 * not those that wait for the object store: they need no slot, and other tasks must not wait for the same store.
 */
const MAX_CLAIMED = 16;
/**
 * The same with those that wait for the object store: after an outage, the tasks of a deployment are still spread over its
 * processes.
 */
const MAX_CLAIMED_IN_ALL = 4 * MAX_CLAIMED;
const FIRST_RETRY_MS = 1000;
const MAX_RETRY_MS = 30_000;
/** How often expired tasks are deleted, ms. */
const SWEEP_MS = 60_000;
/** How long a stop waits for work to end, and then for the store, ms. A process has 4 s in all. */
const UNWIND_MS = 1500;
const RELEASE_MS = 1500;
/** How much the clocks of two processes may differ, ms. */
const CLOCK_SKEW_MS = 3_600_000;
/** When to try again where a bound is reached, s. */
const RETRY_AFTER_SECONDS = 10;

interface TaskRunnerOptions {
  readonly store: TaskStore;
  readonly keys: TaskKeys;
  readonly handlers: readonly TaskHandler<unknown>[];
  readonly bounds: TaskBounds;
  readonly clock: TaskClock;
  readonly log: Pick<RequestLog, "write">;
  /** Records how tasks end; null or absent: nothing does. */
  readonly recorder?: AuditRecorder | null;
}

/** What a new task works on. */
interface TaskStart<P> {
  /** A UUID of version 4: where there is a task of it, none is created. A random one when absent. */
  readonly id?: string;
  readonly caller: Caller;
  readonly bucket: string;
  readonly progress: P;
  readonly blobs?: Blobs;
}

/** A task as its owner finds it. */
export interface FoundTask<P> {
  readonly task: Task;
  readonly progress: P;
}

/** What a process works on. */
export interface TaskFigures {
  readonly running: number;
  readonly maxRunning: number;
  /** Tasks that have no slot yet, or wait for the object store. */
  readonly waiting: number;
  /** Since the start. */
  readonly ended: ReadonlyMap<string, Readonly<Record<TaskEnd["state"], number>>>;
  readonly isStoreReachable: boolean;
}

/**
 * Works on background tasks in this process: those that it created, and those whose process has died or stopped. It
 * renews their leases, and works on a task only while it has the lease.
 */
export class TaskRunner {
  readonly store: TaskStore;
  readonly keys: TaskKeys;
  /** Reads of the object store, by task. */
  readonly reads = new FairSlots(MAX_READS);

  readonly #options: TaskRunnerOptions;
  readonly #handlers: ReadonlyMap<string, TaskHandler<unknown>>;
  readonly #holder = randomUUID();
  readonly #held = new Map<string, HeldTask>();
  readonly #running = new Map<HeldTask, Promise<void>>();
  readonly #stop = new AbortController();
  readonly #ends: TaskEnds;
  #waiting: HeldTask[] = [];
  #isClaiming = false;
  #isReachable = true;

  constructor(options: TaskRunnerOptions) {
    this.#options = options;
    this.store = options.store;
    this.keys = options.keys;
    this.#handlers = new Map(options.handlers.map((handler) => [handler.kind, handler]));
    this.#ends = new TaskEnds({ handlers: this.#handlers, keys: options.keys, recorder: options.recorder });
  }

  /** What this process works on and has worked on. */
  get figures(): TaskFigures {
    return {
      running: this.#running.size,
      maxRunning: MAX_RUNNING,
      waiting: this.#waiting.length,
      ended: this.#ends.counts,
      isStoreReachable: this.#isReachable,
    };
  }

  /** Aborts when the process stops. */
  get stopping(): AbortSignal {
    return this.#stop.signal;
  }

  /** Begins to claim tasks and to renew leases. */
  start(): void {
    this.#maintain().catch((error) => this.#warn(`stopped by a fault: ${error}`));
  }

  /**
   * Stores a new task and begins to work on it.
   *
   * @returns its id
   * @throws HttpError 429 when its owner, or all, have as many tasks as they may; as {@link TaskStore}
   */
  async create<P>(type: TaskType<P>, start: TaskStart<P>): Promise<string> {
    const { caller, bucket, progress, blobs, id = randomUUID() } = start;
    if (this.#stop.signal.aborted) throw unavailable("The gateway is stopping", RETRY_AFTER_SECONDS);
    const { keys, bounds, clock } = this.#options;
    const at = clock.now();
    const terms = { at: Date.now(), digests: hasFixedBlobs(type) && blobs ? blobDigests(blobs) : {} };
    const named = { id, kind: type.kind, bucket };
    const sealedCaller = sealCaller(caller, named, terms, keys);
    const task = {
      ...named,
      owner: ownerOf(caller, keys),
      progress: progressText(type, named, progress, keys),
      sealedCaller,
    };
    const created = await this.store.create(task, this.#holder, bounds, blobs);
    if (created === "exists") return id;
    if (created === "owner") {
      throw tooManyRequests(
        `You have ${bounds.maxPerOwner} background tasks and archives, which is the limit: wait until one of them ends`,
        RETRY_AFTER_SECONDS,
        "tasks_of_user",
      );
    }
    if (created === "all") {
      throw tooManyRequests(
        "Too many background tasks at a time: try again later",
        RETRY_AFTER_SECONDS,
        "tasks_in_all",
      );
    }
    this.#hold({ ...task, isCanceling: false }, at);
    return id;
  }

  /**
   * A task of a caller.
   *
   * @throws HttpError 404 where there is no such task of this kind and bucket, or it is another owner's; as
   *   {@link TaskStore}
   */
  async find<P>(type: TaskType<P>, bucket: string, id: string, caller: Caller): Promise<FoundTask<P>> {
    const task = UUID.test(id) ? await this.store.get(id) : null;
    const isTheirs = task !== null && task.kind === type.kind && task.bucket === bucket &&
      task.owner === ownerOf(caller, this.keys);
    if (!isTheirs) throw notFound("Task");
    return { task, progress: progressOf(type, task, this.keys) };
  }

  /**
   * The tasks of an owner, of one kind and bucket, the newest first; those of other versions are left out.
   *
   * @throws HttpError as {@link TaskStore}
   */
  async list<P>(type: TaskType<P>, bucket: string, owner: string): Promise<FoundTask<P>[]> {
    const found: FoundTask<P>[] = [];
    for (const task of await this.store.list({ owner, kind: type.kind, bucket })) {
      try {
        found.push({ task, progress: progressOf(type, task, this.keys) });
      } catch (error) {
        if (!(error instanceof HttpError)) throw error;
      }
    }
    return found;
  }

  /** Requests the cancellation of a task. It ends soon afterwards, unless it has ended already. */
  async cancel(id: string): Promise<void> {
    await this.store.cancel(id);
    const held = this.#held.get(id);
    if (!held) return;
    held.interrupt("canceled");
    await this.#endIfCanceled(held);
  }

  /** Stops all work, stores how far it is, and releases the leases. Takes a few seconds at most. */
  async stop(): Promise<void> {
    const { clock } = this.#options;
    this.#stop.abort();
    for (const held of this.#held.values()) held.interrupt("stopped");
    await Promise.race([Promise.all(this.#running.values()), clock.sleep(UNWIND_MS)]);
    const released = Promise.all([...this.#held.values()].map((held) => held.saveLatest()))
      .then(() => this.store.release(this.#holder))
      .catch((error) => this.#onStoreError(error));
    await Promise.race([released, clock.sleep(RELEASE_MS)]);
  }

  async #maintain(): Promise<void> {
    const { clock } = this.#options;
    let sweptAt = -Infinity;
    while (!this.#stop.signal.aborted) {
      for (const held of this.#held.values()) this.#renew(held);
      this.#claim();
      if (clock.now() - sweptAt >= SWEEP_MS) {
        sweptAt = clock.now();
        this.store.sweep().catch((error) => this.#onStoreError(error));
      }
      await clock.sleep(RENEW_MS, this.#stop.signal);
    }
  }

  /** Not waited for: a store that does not respond must not delay the end of the work on its tasks. */
  async #renew(held: HeldTask): Promise<void> {
    if (held.isExpiring) this.#pause(held);
    if (held.end) return await this.#storeEnd(held, held.end);
    const saved = await held.save();
    // A claim has replaced it meanwhile.
    if (this.#held.get(held.task.id) !== held) return;
    if (saved === "unreachable") return;
    this.#reachable();
    if (this.#stop.signal.aborted) return;
    if (saved === "lost") {
      if (held.state !== "running") this.#forget(held);
      return;
    }
    if (held.state === "paused") {
      held.resume();
      if (!held.interruption) this.#enqueue(held);
    }
    await this.#endIfCanceled(held);
  }

  #pause(held: HeldTask): void {
    if (held.state === "running") held.interrupt("expired");
    if (held.state !== "waiting") return;
    this.#waiting = this.#waiting.filter((other) => other !== held);
    held.state = "paused";
  }

  async #claim(): Promise<void> {
    const active =
      [...this.#held.values()].filter((held) => !held.isBackingOff && !(isLong(held) && held.state === "waiting"))
        .length;
    const limit = Math.min(MAX_CLAIMED - active, MAX_CLAIMED_IN_ALL - this.#held.size);
    if (this.#isClaiming || limit <= 0) return;
    this.#isClaiming = true;
    const at = this.#options.clock.now();
    try {
      const tasks = await this.store.claim(this.#holder, limit);
      this.#reachable();
      for (const task of tasks) {
        const held = this.#held.get(task.id);
        // A lease of its own that had run out, while the work or the storing of its end is under way.
        if (held && (held.state === "running" || held.end)) held.leased(at);
        else {
          // Another process may have worked on it meanwhile: what is stored counts.
          if (held) this.#forget(held);
          this.#hold(task, at);
        }
      }
      if (tasks.length > 0 && this.#stop.signal.aborted) await this.store.release(this.#holder);
    } catch (error) {
      this.#onStoreError(error);
    } finally {
      this.#isClaiming = false;
    }
  }

  #hold(task: LeasedTask, at: number): void {
    if (this.#stop.signal.aborted) return;
    const { store, clock } = this.#options;
    const onStoreError = (error: unknown) => this.#onStoreError(error);
    const held = new HeldTask(task, at, { store, clock, holder: this.#holder, onStoreError });
    this.#held.set(task.id, held);
    if (task.isCanceling) {
      held.interrupt("canceled");
      this.#endIfCanceled(held);
    } else this.#enqueue(held);
  }

  #forget(held: HeldTask): void {
    if (this.#held.get(held.task.id) === held) this.#held.delete(held.task.id);
    this.#waiting = this.#waiting.filter((other) => other !== held);
  }

  #enqueue(held: HeldTask): void {
    held.state = "waiting";
    this.#waiting.push(held);
    this.#next();
  }

  /** Begins work on tasks that wait, first of the owners of whose tasks the fewest run. */
  #next(): void {
    while (this.#running.size < MAX_RUNNING && !this.#stop.signal.aborted) {
      const ofOwner = new Map<string, number>();
      for (const { task: { owner } } of this.#running.keys()) ofOwner.set(owner, (ofOwner.get(owner) ?? 0) + 1);
      const takesLong = [...this.#running.keys()].filter(isLong).length < MAX_LONG_RUNNING;
      let first: HeldTask | null = null;
      let fewest = MAX_RUNNING_PER_OWNER;
      for (const held of this.#waiting) {
        const count = ofOwner.get(held.task.owner) ?? 0;
        if (count >= fewest || held.isBackingOff || isLong(held) && !takesLong) continue;
        first = held;
        fewest = count;
      }
      if (!first) return;
      const begun = first;
      this.#waiting = this.#waiting.filter((held) => held !== begun);
      begun.state = "running";
      this.#running.set(
        begun,
        this.#work(begun).finally(() => {
          this.#running.delete(begun);
          this.#next();
        }),
      );
    }
  }

  /** Works on a task until it ends, is interrupted or waits for a retry. */
  async #work(held: HeldTask): Promise<void> {
    const end = await this.#run(held);
    if (end === "retry") return;
    if (end) return await this.#finish(held, end);
    if (held.interruption === "lost") this.#forget(held);
    else held.state = "paused";
  }

  /** How a task ends; null where it is interrupted and does not end here, `retry` where it waits to run again. */
  async #run(held: HeldTask): Promise<TaskEnd | "retry" | null> {
    const { task, steps } = held;
    const handler = this.#handlers.get(task.kind);
    const opened = task.sealedCaller && openCaller(task.sealedCaller, task, this.keys);
    if (!handler || !opened) return failed(held, handler ? UNREADABLE_CALLER : UNREADABLE_TASK);
    // The times of the store may have been changed; this one is sealed.
    const { maxRunMs, ranTooLong } = lifetimeOf(task.kind);
    if (Date.now() - opened.at > maxRunMs + CLOCK_SKEW_MS) return failed(held, ranTooLong);
    const { caller, digests } = opened;
    try {
      const progress = await handler.run(this.#job(held, handler, { ...caller, signal: held.signal }, digests));
      return {
        state: "ready",
        error: null,
        progress: progressText(handler, task, progress, this.keys),
        keepsCaller: handler.keepsCaller,
      };
    } catch (error) {
      if (held.interruption) return interrupted(held);
      if (held.steps > steps) held.retry = null;
      if (isTransient(error) && this.#retryLater(held)) return "retry";
      const sentence = failureSentence(error);
      if (sentence === null) this.#fault(held, error);
      return failed(held, sentence ?? INTERNAL_ERROR);
    }
  }

  /**
   * Lets a task wait for its next run without a slot of those that can run.
   *
   * @returns false where it has failed for too long
   */
  #retryLater(held: HeldTask): boolean {
    const { clock } = this.#options;
    const now = clock.now();
    const failingSince = held.retry?.failingSince ?? now;
    if (now - failingSince >= lifetimeOf(held.task.kind).retryForMs) return false;
    const waitMs = held.retry ? Math.min(2 * held.retry.waitMs, MAX_RETRY_MS) : FIRST_RETRY_MS;
    held.retry = { failingSince, waitMs };
    held.isBackingOff = true;
    this.#enqueue(held);
    clock.sleep(waitMs, this.#stop.signal).then(() => {
      held.isBackingOff = false;
      // It has no effect on a task that has ended meanwhile, since that is not among those that wait.
      this.#next();
    });
    return true;
  }

  #job(
    held: HeldTask,
    handler: TaskHandler<unknown>,
    caller: Caller,
    digests: Readonly<Record<string, string>>,
  ): Job<unknown> {
    const { store, reads } = this;
    const { task } = held;
    const { id, bucket } = task;
    return {
      id,
      bucket,
      caller,
      progress: progressOf(handler, { ...task, progress: held.progress }, this.keys),
      signal: held.signal,
      leaseSignal: held.leaseSignal,
      read: async (work) => {
        const leave = await reads.enter(id, held.signal);
        try {
          return await work();
        } finally {
          leave();
        }
      },
      checkpoint: (progress, how) => held.checkpoint(() => progressText(handler, task, progress, this.keys), how),
      async readBlobs(names) {
        const blobs = await store.readBlobs(id, names);
        if (hasFixedBlobs(handler)) mustBeSealed(names, blobs, digests);
        return blobs;
      },
      writeBlobs: (blobs) => store.writeBlobs(id, blobs),
    };
  }

  async #endIfCanceled(held: HeldTask): Promise<void> {
    if (held.interruption !== "canceled" || held.state === "running" || held.end) return;
    this.#waiting = this.#waiting.filter((other) => other !== held);
    await this.#finish(held, canceled(held));
  }

  async #finish(held: HeldTask, end: TaskEnd): Promise<void> {
    held.state = "ending";
    held.end = end;
    await this.#ends.announce(held.task, end);
    await this.#storeEnd(held, end);
  }

  /** Stores the end of a task. While the store is not reachable it is tried again with each renewal. */
  async #storeEnd(held: HeldTask, end: TaskEnd): Promise<void> {
    try {
      await this.store.end(held.task.id, this.#holder, end);
      this.#ends.count(held.task, end);
      this.#reachable();
      this.#forget(held);
      this.#ends.record(held.task, end);
    } catch (error) {
      this.#onStoreError(error);
    }
  }

  #fault({ task }: HeldTask, error: unknown): void {
    const stack = error instanceof Error ? error.stack ?? error.message : String(error);
    this.#options.log.write({ level: "error", task: task.id, kind: task.kind, error: redactText(stack) });
  }

  #onStoreError(error: unknown): void {
    if (!this.#isReachable) return;
    this.#isReachable = false;
    this.#warn(`the task store cannot be used, it is tried again: ${error instanceof Error ? error.message : error}`);
  }

  #reachable(): void {
    if (!this.#isReachable) this.#warn("the task store can be used again");
    this.#isReachable = true;
  }

  #warn(message: string): void {
    this.#options.log.write({ level: "warn", message: redactText(`background tasks: ${message}`) });
  }
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function isLong({ task }: HeldTask): boolean {
  return task.kind === LONG_KIND;
}

function failed(held: HeldTask, error: string): TaskEnd {
  return { state: "failed", error, progress: held.progress, keepsCaller: false };
}

function canceled(held: HeldTask): TaskEnd {
  return { state: "canceled", error: null, progress: held.progress, keepsCaller: false };
}

function interrupted(held: HeldTask): TaskEnd | null {
  return held.interruption === "canceled" ? canceled(held) : null;
}
