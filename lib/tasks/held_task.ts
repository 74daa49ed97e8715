import { untilAborted } from "@/lib/std/timing.ts";
import { LEASE_MS, type NewTask, RENEW_MS, type Saved, type Task, type TaskEnd, type TaskStore } from "./task.ts";
import type { TaskClock } from "./task_keys.ts";

/** A progress is stored at most this often, ms. */
const CHECKPOINT_MS = 250;
/** How long a progress that must be stored waits for a store that is not reachable, ms. */
const RETRY_MS = 1000;

/**
 * Why the work on a task ends early: its owner cancelled it, another process has taken it over or it is gone (`lost`), its
 * lease may have run out while the store was not reachable (`expired`), the process stops, it must go on from its last
 * checkpoint so that others have their turn (`yielded`), or the store refuses its keys (`refused`).
 */
type Interruption = "canceled" | "lost" | "expired" | "stopped" | "yielded" | "refused";

interface HeldTaskOptions {
  readonly store: TaskStore;
  readonly holder: string;
  readonly clock: TaskClock;
  /** Called with each error of the store. */
  readonly onStoreError: (error: unknown) => void;
}

/** A leased task: claimed, or created by this process. */
export type LeasedTask = Omit<NewTask, "sealedCaller"> & Pick<Task, "sealedCaller" | "isCanceling">;

/** A task whose lease this process has, as far as it knows. */
export class HeldTask {
  readonly task: LeasedTask;
  /** `paused`: its lease may have run out. `ending`: its end is not stored yet. */
  state: "waiting" | "running" | "paused" | "ending" = "waiting";
  end: TaskEnd | null = null;
  /** Resolves when this process no longer has it: it has ended, or another process may have it. */
  readonly left = Promise.withResolvers<void>();
  /** Why the store refuses its keys, as a sentence for its owner; null: it does not. */
  refusal: string | null = null;
  /** Why its work must end; null while it may go on. */
  interruption: Interruption | null = null;
  /** Aborts when its work must end, for any reason. */
  signal: AbortSignal;
  /** Grows with each checkpoint that is not partial. */
  steps = 0;
  /**
   * Since when, by the clock, its work has failed with errors that may pass, and the last wait, ms; null where it has got
   * further.
   */
  retry: { readonly failingSince: number; readonly waitMs: number } | null = null;
  /** Whether it waits until it may run again, without a slot of the tasks that can run. */
  isBackingOff = false;
  /**
   * Its place among waiting tasks, the least first: the last turn of a long task of its tenant, that of its owner, and its
   * own arrival, all numbered in one sequence.
   */
  place: readonly [number, number, number] = [0, 0, 0];
  /** When its run got its slot, by the clock. */
  slotSince = 0;
  /** Gives a run that waits for its next turn a slot; null: it does not wait for one. */
  giveTurn: (() => void) | null = null;

  readonly #cancel = new AbortController();
  #lease = new AbortController();
  #progress: () => string;
  #version = 0;
  #storedVersion = 0;
  #savedAt = -Infinity;
  #leaseEnd: number;
  #saving: Promise<Saved | "unreachable"> | null = null;

  /** @param leasedAt when the lease was requested, by the clock */
  constructor(task: LeasedTask, leasedAt: number, private readonly options: HeldTaskOptions) {
    this.task = task;
    this.#progress = () => task.progress;
    this.#leaseEnd = leasedAt + LEASE_MS;
    this.signal = AbortSignal.any([this.#cancel.signal, this.#lease.signal]);
  }

  /** Aborts when its work must end, unless it was cancelled alone. */
  get leaseSignal(): AbortSignal {
    return this.#lease.signal;
  }

  /** The last progress, as JSON. */
  get progress(): string {
    return this.#progress();
  }

  /** Whether the lease may run out before it is renewed the next time. */
  get isExpiring(): boolean {
    return this.options.clock.now() + RENEW_MS >= this.#leaseEnd;
  }

  /** Notes a lease that was requested at a moment of the clock. */
  leased(at: number): void {
    this.#leaseEnd = Math.max(this.#leaseEnd, at + LEASE_MS);
  }

  /** Ends the work that is under way. */
  interrupt(reason: Interruption): void {
    if (this.interruption === "lost") return;
    // The end of a lease takes precedence over a cancellation, which is stored for the next holder.
    if (this.interruption === null || reason !== "canceled") this.interruption = reason;
    const error = new Error(`The work on a task is interrupted: ${reason}`);
    (reason === "canceled" ? this.#cancel : this.#lease).abort(error);
  }

  /** Allows work again after an expired lease was renewed. */
  resume(): void {
    this.#lease = new AbortController();
    this.signal = AbortSignal.any([this.#cancel.signal, this.#lease.signal]);
    this.interruption = this.#cancel.signal.aborted ? "canceled" : null;
  }

  /** See `Job.checkpoint`. @param progress returns the progress as JSON */
  async checkpoint(progress: () => string, how?: "at once" | "partial"): Promise<void> {
    this.#progress = progress;
    if (how !== "partial") this.steps++;
    const version = ++this.#version;
    const { clock } = this.options;
    this.signal.throwIfAborted();
    if (how !== "at once") {
      if (clock.now() - this.#savedAt >= CHECKPOINT_MS) await untilAborted(this.save(), this.signal);
      return this.signal.throwIfAborted();
    }
    while (this.#storedVersion < version) {
      // The store may not respond for long.
      const saved = await untilAborted(this.save(), this.signal);
      this.signal.throwIfAborted();
      if (saved === "unreachable") await clock.sleep(RETRY_MS, this.signal);
    }
  }

  /** Stores the last progress, unless it is stored, and renews the lease. Calls at the same time share one. */
  save(): Promise<Saved | "unreachable"> {
    return this.#saving ??= this.#save().finally(() => this.#saving = null);
  }

  /** Calls {@link save}, again if that only waited for an older progress to be stored. */
  async saveLatest(): Promise<void> {
    const saved = await this.save();
    const isHeld = saved === "stored" || saved === "canceling";
    if (isHeld && this.#version > this.#storedVersion) await this.save();
  }

  async #save(): Promise<Saved | "unreachable"> {
    const { store, holder, clock, onStoreError } = this.options;
    const [at, version] = [clock.now(), this.#version];
    this.#savedAt = at;
    try {
      const progress = version > this.#storedVersion ? this.#progress() : null;
      const saved = await store.save(this.task.id, holder, progress);
      if (saved === "lost") this.interrupt("lost");
      else {
        this.#storedVersion = version;
        this.leased(at);
        if (saved === "canceling") this.interrupt("canceled");
      }
      return saved;
    } catch (error) {
      onStoreError(error);
      return "unreachable";
    }
  }
}
