import { randomUUID } from "node:crypto";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import type { AuditRecorder } from "@/lib/http/audit_event.ts";
import type { RequestLog } from "@/lib/http/app.ts";
import { HttpError, notFound, tooManyRequests, unavailable } from "@/lib/http/errors.ts";
import { redactText } from "@/lib/http/request_context.ts";
import { codedSentence, type CodedText } from "@/lib/std/coded.ts";
import { FairSlots, forEachConcurrent } from "@/lib/std/concurrency.ts";
import { HeldTask, type LeasedTask } from "./held_task.ts";
import {
  type Blobs,
  lifetimeOf,
  MAX_LISTED,
  RENEW_MS,
  storedSentence,
  type Task,
  type TaskBounds,
  type TaskEnd,
  type TaskStore,
} from "./task.ts";
import { TaskEnds } from "./task_ends.ts";
import { isLong, MAX_RUNNING, TaskQueue } from "./task_queue.ts";
import { failureSentence, isTransient } from "./task_responses.ts";
import {
  blobDigests,
  hasFixedBlobs,
  type Job,
  mustBeSealed,
  openCaller,
  ownerOf,
  progressOf,
  progressText,
  provenName,
  sealCaller,
  type TaskClock,
  type TaskHandler,
  type TaskKeys,
  type TaskType,
} from "./task_keys.ts";

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
/** How often it is checked that the store still accepts the keys of tasks, ms. */
const ACCOUNTS_MS = 20_000;
/** Owners whose keys are checked at a time. */
const MAX_CHECKS = 4;
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
  /** Checks that the store accepts a caller's keys. Absent: nothing does. @throws HttpError 401 where it does not */
  readonly prove?: (caller: Caller) => Promise<void>;
}

/** Input of a new task. */
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

/**
 * Works on background tasks in this process: those that it created, and those whose process has died or stopped. It
 * renews their leases, and works on a task only while it has the lease.
 */
export class TaskRunner {
  readonly store: TaskStore;
  readonly keys: TaskKeys;
  /** Reads of the object store, by task. */
  readonly reads = new FairSlots(MAX_READS);

  readonly #handlers: ReadonlyMap<string, TaskHandler<unknown>>;
  readonly #holder = randomUUID();
  readonly #held = new Map<string, HeldTask>();
  readonly #stop = new AbortController();
  readonly #queue: TaskQueue;
  readonly #ends: TaskEnds;
  #isClaiming = false;
  #isCheckingAccounts = false;
  #isReachable = true;

  constructor(private readonly options: TaskRunnerOptions) {
    this.store = options.store;
    this.keys = options.keys;
    this.#handlers = new Map(options.handlers.map((handler) => [handler.kind, handler]));
    this.#queue = new TaskQueue({
      clock: options.clock,
      stop: this.#stop.signal,
      held: this.#held,
      work: (held) => this.#work(held),
    });
    this.#ends = new TaskEnds(this.#handlers, options.keys, options.recorder);
  }

  /** Current and ended tasks of this process. */
  get figures() {
    return {
      running: this.#queue.running,
      maxRunning: MAX_RUNNING,
      /** Tasks that have no slot yet, or wait for the object store. */
      waiting: this.#queue.waiting,
      /** Since the start. */
      ended: this.#ends.counts,
      isStoreReachable: this.#isReachable,
    };
  }

  /** Aborts when the process stops. */
  get stopping(): AbortSignal {
    return this.#stop.signal;
  }

  /** Starts claiming tasks and renewing leases. */
  start(): void {
    this.#maintain().catch((error) => this.#warn(`stopped by a fault: ${error}`));
  }

  /**
   * Stores a new task and starts it.
   *
   * @returns its id
   * @throws HttpError 429 when its owner, or all, have as many tasks as they may; as {@link TaskStore}
   */
  async create<P>(type: TaskType<P>, start: TaskStart<P>): Promise<string> {
    const { caller, bucket, progress, blobs, id = randomUUID() } = start;
    if (this.#stop.signal.aborted) throw unavailable("The gateway is stopping", RETRY_AFTER_SECONDS);
    const { keys, bounds, clock } = this.options;
    const at = clock.now();
    const terms = { at: Date.now(), digests: hasFixedBlobs(type) && blobs ? blobDigests(blobs) : {} };
    const named = { id, kind: type.kind, bucket };
    const task = {
      ...named,
      ...provenName(caller),
      owner: ownerOf(caller, keys),
      progress: progressText(type, named, progress, keys),
      sealedCaller: sealCaller(caller, named, terms, keys),
    };
    const created = await this.store.create(task, this.#holder, bounds, blobs);
    if (created === "exists") return id;
    if (created !== "created") throw tooManyTasks(created, bounds);
    this.#hold({ ...task, isCanceling: false }, at);
    return id;
  }

  /** A task of any owner; null where there is none. @throws HttpError as {@link TaskStore} */
  async get(id: string): Promise<Task | null> {
    return UUID.test(id) ? await this.store.get(id) : null;
  }

  /**
   * A task of a caller.
   *
   * @throws HttpError 404 where there is no such task of this kind and bucket, or it is another owner's; as
   *   {@link TaskStore}
   */
  async find<P>(type: TaskType<P>, bucket: string, id: string, caller: Caller): Promise<FoundTask<P>> {
    const task = await this.get(id);
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

  /** Waits until a task of this process has ended, at most so many ms. */
  async settled(id: string, ms: number): Promise<void> {
    const held = this.#held.get(id);
    if (!held) return;
    const waiting = new AbortController();
    await Promise.race([held.left.promise, this.options.clock.sleep(ms, waiting.signal)]);
    waiting.abort();
  }

  /** Cancels a task, see {@link TaskStore.cancel}. A running one ends soon afterwards. */
  async cancel(id: string): Promise<void> {
    await this.store.cancel(id);
    const held = this.#held.get(id);
    if (!held) return;
    held.interrupt("canceled");
    await this.#endIfCanceled(held);
  }

  /** Stops all work, stores how far it is, and releases the leases. Takes a few seconds at most. */
  async stop(): Promise<void> {
    const { clock } = this.options;
    this.#stop.abort();
    for (const held of this.#held.values()) held.interrupt("stopped");
    await Promise.race([this.#queue.settled(), clock.sleep(UNWIND_MS)]);
    const released = Promise.all([...this.#held.values()].map((held) => held.saveLatest()))
      .then(() => this.store.release(this.#holder))
      .catch((error) => this.#onStoreError(error));
    await Promise.race([released, clock.sleep(RELEASE_MS)]);
  }

  async #maintain(): Promise<void> {
    const { clock } = this.options;
    let sweptAt = -Infinity;
    let checkedAt = clock.now();
    while (!this.#stop.signal.aborted) {
      for (const held of this.#held.values()) this.#renew(held);
      this.#claimUpTo(this.#room());
      if (clock.now() - sweptAt >= SWEEP_MS) {
        sweptAt = clock.now();
        this.store.sweep().catch((error) => this.#onStoreError(error));
      }
      if (clock.now() - checkedAt >= ACCOUNTS_MS) {
        checkedAt = clock.now();
        this.#checkAccounts();
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
      if (!held.interruption) this.#queue.add(held);
    }
    await this.#endIfCanceled(held);
  }

  #pause(held: HeldTask): void {
    if (held.state === "running") held.interrupt("expired");
    if (held.state !== "waiting") return;
    this.#queue.remove(held);
    held.state = "paused";
  }

  /** How many more tasks it has room for. */
  #room(): number {
    const isActive = (held: HeldTask) =>
      !held.isBackingOff && !held.giveTurn && !(isLong(held) && held.state === "waiting");
    const active = [...this.#held.values()].filter(isActive).length;
    return Math.max(0, Math.min(MAX_CLAIMED - active, MAX_CLAIMED_IN_ALL - this.#held.size));
  }

  /** Claims so many tasks, and all whose cancellation was requested: their end takes no time. */
  async #claimUpTo(limit: number, owner?: string): Promise<void> {
    if (this.#isClaiming) return;
    this.#isClaiming = true;
    const at = this.options.clock.now();
    try {
      const tasks = await this.store.claim(this.#holder, limit, owner);
      this.#reachable();
      for (const task of tasks) {
        const held = this.#held.get(task.id);
        // This process's own expired lease, while the work or the storing of its end is in progress.
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
    const { store, clock } = this.options;
    const onStoreError = (error: unknown) => this.#onStoreError(error);
    const held = new HeldTask(task, at, { store, clock, holder: this.#holder, onStoreError });
    this.#held.set(task.id, held);
    if (task.isCanceling) {
      held.interrupt("canceled");
      this.#endIfCanceled(held);
    } else this.#queue.add(held);
  }

  #forget(held: HeldTask): void {
    held.left.resolve();
    if (this.#held.get(held.task.id) === held) this.#held.delete(held.task.id);
    this.#queue.remove(held);
  }

  /** Ends the tasks of owners whose keys the store refuses, such as those of an account that was disabled or deleted. */
  async #checkAccounts(): Promise<void> {
    const { prove } = this.options;
    if (!prove || this.#isCheckingAccounts) return;
    this.#isCheckingAccounts = true;
    try {
      const known = new Map<string, Pick<Task, "id" | "kind" | "bucket" | "sealedCaller">>();
      for (const { task } of this.#held.values()) known.set(task.owner, task);
      for (const { id, owner, state, isLeased } of await this.store.summaries(null)) {
        const task = state === "running" && !isLeased && !known.has(owner) && await this.store.get(id);
        if (task) known.set(owner, task);
      }
      await forEachConcurrent([...known], MAX_CHECKS, async ([owner, task]) => {
        const caller = task.sealedCaller && openCaller(task.sealedCaller, task, this.keys)?.caller;
        if (!caller || this.#stop.signal.aborted) return;
        try {
          await prove(caller);
        } catch (error) {
          if (error instanceof HttpError && error.status === 401) await this.#refuse(owner, failureSentence(error));
        }
      });
    } catch (error) {
      this.#onStoreError(error);
    } finally {
      this.#isCheckingAccounts = false;
    }
  }

  /** Ends the tasks of an owner that this process has, and those that none has. */
  async #refuse(owner: string, sentence: CodedText | null): Promise<void> {
    const refusal = storedSentence(sentence ?? codedSentence("task_internal_error"));
    await this.#claimUpTo(MAX_LISTED, owner);
    for (const held of [...this.#held.values()]) {
      if (held.task.owner !== owner || held.end) continue;
      held.refusal = refusal;
      held.interrupt("refused");
      if (held.state === "running") continue;
      this.#queue.remove(held);
      await this.#finish(held, failed(held, refusal));
    }
  }

  /** Works on a task until it ends, is interrupted or waits for a retry. */
  async #work(held: HeldTask): Promise<void> {
    const end = await this.#run(held);
    if (end === "retry") return;
    if (end) return await this.#finish(held, end);
    if (held.interruption === "lost") return this.#forget(held);
    if (held.interruption !== "yielded") {
      held.state = "paused";
      return;
    }
    held.resume();
    this.#queue.add(held);
  }

  /** How a task ends; null where it is interrupted and does not end here, `retry` where it waits to run again. */
  async #run(held: HeldTask): Promise<TaskEnd | "retry" | null> {
    const { task, steps } = held;
    const handler = this.#handlers.get(task.kind);
    const opened = task.sealedCaller && openCaller(task.sealedCaller, task, this.keys);
    if (!handler) return failed(held, storedSentence(codedSentence("task_other_version")));
    if (!opened) return failed(held, storedSentence(codedSentence("task_key_replaced")));
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
      if (held.interruption === "refused") {
        return failed(held, held.refusal ?? storedSentence(codedSentence("task_internal_error")));
      }
      if (held.interruption) return held.interruption === "canceled" ? canceled(held) : null;
      if (held.steps > steps) held.retry = null;
      if (isTransient(error) && this.#retryLater(held)) return "retry";
      const sentence = failureSentence(error);
      if (sentence === null) this.#fault(held, error);
      return failed(held, storedSentence(sentence ?? codedSentence("task_internal_error")));
    }
  }

  /**
   * Lets a task wait for its next run without a slot of those that can run.
   *
   * @returns false where it has failed for too long
   */
  #retryLater(held: HeldTask): boolean {
    const { clock } = this.options;
    const now = clock.now();
    const failingSince = held.retry?.failingSince ?? now;
    if (now - failingSince >= lifetimeOf(held.task.kind).retryForMs) return false;
    const waitMs = held.retry ? Math.min(2 * held.retry.waitMs, MAX_RETRY_MS) : FIRST_RETRY_MS;
    held.retry = { failingSince, waitMs };
    held.isBackingOff = true;
    this.#queue.add(held);
    clock.sleep(waitMs, this.#stop.signal).then(() => {
      held.isBackingOff = false;
      // It has no effect on a task that has ended meanwhile, since that is not among those that wait.
      this.#queue.next();
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
    const reading = new Set<{ leave: () => void }>();
    const yieldTurn = async (): Promise<boolean> => {
      held.signal.throwIfAborted();
      if (!isLong(held) || !this.#queue.isTurnOver(held)) return false;
      for (const { leave } of reading) leave();
      await this.#queue.nextTurn(held);
      for (const read of reading) {
        const leave = await reads.enter(id, held.signal);
        if (reading.has(read)) read.leave = leave;
        else leave();
      }
      return true;
    };
    let yielding: Promise<boolean> | null = null;
    return {
      id,
      bucket,
      caller,
      progress: progressOf(handler, { ...task, progress: held.progress }, this.keys),
      signal: held.signal,
      leaseSignal: held.leaseSignal,
      read: async (work) => {
        const read = { leave: await reads.enter(id, held.signal) };
        reading.add(read);
        try {
          return await work();
        } finally {
          reading.delete(read);
          read.leave();
        }
      },
      yieldTurn: () => yielding ??= yieldTurn().finally(() => yielding = null),
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
    this.#queue.remove(held);
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
    this.options.log.write({ level: "error", task: task.id, kind: task.kind, error: redactText(stack) });
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
    this.options.log.write({ level: "warn", message: redactText(`background tasks: ${message}`) });
  }
}

function tooManyTasks(bound: "owner" | "tenant" | "all", { maxPerOwner, maxPerTenant }: TaskBounds): HttpError {
  const tooMany = (detail: string, reason: Parameters<typeof tooManyRequests>[2]) =>
    tooManyRequests(detail, RETRY_AFTER_SECONDS, reason);
  const limit = "background tasks and archives, which is the limit: wait until one of them ends";
  if (bound === "owner") return tooMany(`You have ${maxPerOwner} ${limit}`, "tasks_of_user");
  if (bound === "all") return tooMany("Too many background tasks at a time: try again later", "tasks_in_all");
  return tooMany(`Your tenant has ${maxPerTenant} ${limit}, or have an administrator cancel some`, "tasks_of_tenant");
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

function failed({ progress }: HeldTask, error: string): TaskEnd {
  return { state: "failed", error, progress };
}

function canceled({ progress }: HeldTask): TaskEnd {
  return { state: "canceled", error: null, progress };
}
