import { untilAborted } from "@/lib/std/timing.ts";
import type { HeldTask } from "./held_task.ts";
import { LONG_KIND } from "./task.ts";
import type { TaskClock } from "./task_keys.ts";

/** Tasks that a process works on at a time: in all, and of one owner, so that no owner takes all of them. */
export const MAX_RUNNING = 8;
const MAX_RUNNING_PER_OWNER = 4;
/**
 * The same of long kinds, which take days: the other slots are left to the tasks that someone waits for. One owner has one
 * of them at most, and gives it up after {@link TURN_MS} where others wait.
 */
const MAX_LONG_RUNNING = 2;
const TURN_MS = 60_000;
/** Runs of long tasks that wait for their next turn in memory. Further ones go on from their last checkpoint. */
const MAX_PAUSED = 8;

interface TaskQueueOptions {
  readonly clock: TaskClock;
  /** Aborts when the process stops: no work starts after that. */
  readonly stop: AbortSignal;
  /** All tasks whose lease the process has, by id. */
  readonly held: ReadonlyMap<string, HeldTask>;
  /** Works on a task until it ends, is interrupted or waits for a retry. */
  readonly work: (held: HeldTask) => Promise<void>;
}

/** Decides which of the tasks of a process run: fairly between owners, and long tasks in turns. */
export class TaskQueue {
  readonly #running = new Map<HeldTask, Promise<void>>();
  #waiting: HeldTask[] = [];
  /** The last number that a place in the queue was given. */
  #lastPlace = 0;

  constructor(private readonly options: TaskQueueOptions) {}

  /** How many tasks run, without those that wait for their next turn. */
  get running(): number {
    return this.#running.size - this.#paused().length;
  }

  /** How many tasks wait, those that wait for their next turn included. */
  get waiting(): number {
    return this.#waiting.length + this.#paused().length;
  }

  /** Resolves when all that runs now has ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  /** Adds a task to the end of the queue, and starts tasks that may run. */
  add(held: HeldTask): void {
    held.state = "waiting";
    const place = ++this.#lastPlace;
    held.place = [place, place, place];
    this.#waiting.push(held);
    this.next();
  }

  /** Removes a task that waits. */
  remove(held: HeldTask): void {
    this.#waiting = this.#waiting.filter((other) => other !== held);
  }

  /** Runs that wait for their next turn. */
  #paused(): HeldTask[] {
    return [...this.#running.keys()].filter(({ giveTurn }) => giveTurn);
  }

  /** Starts or continues waiting tasks. */
  next(): void {
    const { clock, stop, work } = this.options;
    for (let first; !stop.aborted && (first = this.#firstWaiting());) {
      const begun = first;
      begun.slotSince = clock.now();
      if (begun.giveTurn) {
        begun.giveTurn();
        begun.giveTurn = null;
        continue;
      }
      this.remove(begun);
      begun.state = "running";
      this.#running.set(
        begun,
        work(begun).finally(() => {
          this.#running.delete(begun);
          if (isLong(begun)) this.#endTurn(begun);
          this.next();
        }),
      );
    }
  }

  /**
   * The waiting task that may run next: of the owners of whose tasks the fewest run, and then by its place. Null where none
   * may.
   */
  #firstWaiting(): HeldTask | null {
    const active = [...this.#running.keys()].filter(({ giveTurn }) => !giveTurn);
    if (active.length >= MAX_RUNNING) return null;
    const paused = this.#paused();
    const hasLong = active.filter(isLong).length >= MAX_LONG_RUNNING;
    const ofOwner = Map.groupBy(active, ({ task }) => task.owner);
    let first: HeldTask | null = null;
    let fewest = MAX_RUNNING_PER_OWNER;
    for (const held of [...paused, ...this.#waiting]) {
      const { owner } = held.task;
      const count = ofOwner.get(owner)?.length ?? 0;
      if (count > fewest || count === MAX_RUNNING_PER_OWNER || held.isBackingOff) continue;
      if (isLong(held)) {
        // A paused run of the same owner comes first: each owner has one run in memory at most.
        const isBehind = !held.giveTurn && paused.some(({ task }) => task.owner === owner);
        if (hasLong || isBehind || ofOwner.get(owner)?.some(isLong)) continue;
      }
      if (first && count === fewest && !isBefore(held, first)) continue;
      first = held;
      fewest = count;
    }
    return first;
  }

  /** Whether a long task has had its turn, and another owner's waits. */
  isTurnOver(held: HeldTask): boolean {
    if (this.options.clock.now() - held.slotSince < TURN_MS) return false;
    const active = [...this.#running.keys()].filter((other) => isLong(other) && !other.giveTurn);
    return [...this.#paused(), ...this.#waiting].some((other) =>
      isLong(other) && !other.isBackingOff && active.every(({ task }) => task.owner !== other.task.owner)
    );
  }

  /** Puts the long tasks of the same tenant and owner behind those of others. */
  #endTurn(held: HeldTask): void {
    const { owner, tenant } = held.task;
    const last = ++this.#lastPlace;
    for (const other of this.options.held.values()) {
      const isOfOwner = other.task.owner === owner;
      if (!isLong(other) || (!isOfOwner && (tenant === null || other.task.tenant !== tenant))) continue;
      const [, ofOwner, own] = other.place;
      other.place = [last, isOfOwner ? last : ofOwner, own];
    }
    held.place = [last, last, last];
  }

  /** Waits for the next turn of a run whose turn is over. @throws the reason of its signal */
  async nextTurn(held: HeldTask): Promise<void> {
    this.#endTurn(held);
    if (this.#paused().length >= MAX_PAUSED) held.interrupt("yielded");
    const { signal } = held;
    signal.throwIfAborted();
    const { promise, resolve } = Promise.withResolvers<void>();
    held.giveTurn = resolve;
    this.next();
    try {
      await untilAborted(promise, signal);
    } finally {
      held.giveTurn = null;
    }
  }
}

function isBefore(a: HeldTask, b: HeldTask): boolean {
  const at = a.place.findIndex((number, index) => number !== b.place[index]);
  return at >= 0 && a.place[at] < b.place[at];
}

/** Whether the work on a task takes days. */
export const isLong = ({ task }: HeldTask) => task.kind === LONG_KIND;
