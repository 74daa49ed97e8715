import { batch, type ReadonlySignal, signal } from "@preact/signals";

import type { Clock } from "@/lib/client/poller.ts";
import { loadCode, OutdatedPage } from "@/lib/client/storage/load_code.ts";
import type { callDoor } from "@/lib/client/storage/door.ts";
import { TaskControl, TaskStopped } from "./task_control.ts";
import type { StoredTask, TaskJournal } from "./task_journal.ts";
import {
  isFinished,
  NEW_TASK,
  OUTDATED,
  type TaskEnd,
  type TaskPlan,
  type TaskState,
} from "@/lib/presentation/storage/task_record.ts";

/** After this time the end of a task is not shown, ms. */
const FORGET_MS = 24 * 60 * 60 * 1000;

/** A task as a page shows it. */
export interface ShownTask {
  readonly id: string;
  readonly plan: TaskPlan;
  readonly state: ReadonlySignal<TaskState>;
  /** Whether it waits for the network. */
  readonly isAway: ReadonlySignal<boolean>;
  /** Whether another page of this browser performs it. */
  readonly isElsewhere: ReadonlySignal<boolean>;
}

interface TaskListParts {
  readonly account: string;
  readonly call: typeof callDoor;
  readonly journal: TaskJournal;
  readonly clock: Clock;
  /** 0 to 1 */
  readonly random: () => number;
  /** Runs work while no other page of the browser runs work of this name. `wait` is called when one does. */
  readonly alone: (name: string, wait: () => void, work: () => Promise<void>) => Promise<void>;
  /** A task has ended on this page. */
  readonly onEnd: (plan: TaskPlan, state: TaskState) => void;
}

/** The tasks of an account: performed by one page at a time, and by the next one after a reload. */
export class TaskList {
  readonly tasks = signal<readonly ShownTask[]>([]);
  /** What ended last on this page; null: nothing has. */
  readonly lastEnded = signal<ShownTask | null>(null);
  readonly #parts: TaskListParts;
  readonly #running = new Map<string, RunningTask>();

  constructor(parts: TaskListParts) {
    this.#parts = parts;
  }

  /** Shows the tasks of earlier pages and goes on with those that have not ended. */
  async restore(): Promise<void> {
    const { journal, account, clock } = this.#parts;
    for (const stored of await journal.all(account)) {
      const isOld = stored.createdAt < clock.now() - FORGET_MS;
      if (isOld && stored.state.end !== null) await journal.remove(stored.id);
      else this.#show(isOfOldRelease(stored) ? { ...stored, state: { ...stored.state, end: null } } : stored);
    }
  }

  start(plan: TaskPlan): ShownTask {
    const { account, clock, random } = this.#parts;
    const createdAt = clock.now();
    const id = `${createdAt}-${Math.floor(random() * 1e9)}`;
    return this.#show({ id, account, createdAt, plan, state: NEW_TASK });
  }

  /** Ends a task after what is under way; not one that another page performs. */
  cancel(id: string): void {
    const task = this.#running.get(id);
    if (task?.isElsewhere.peek()) return;
    task?.change({ isCanceling: true });
    task?.control.wake();
  }

  /** Goes on with a task that was stopped. */
  resume(id: string): void {
    const task = this.#running.get(id);
    if (task?.state.peek().end?.how !== "stopped") return;
    task.change({ end: null });
    void this.#run(task);
  }

  /** Takes a task that has ended off the list. */
  dismiss(id: string): void {
    this.tasks.value = this.tasks.peek().filter((task) => task.id !== id);
    this.#running.delete(id);
    void this.#parts.journal.remove(id);
  }

  /** Takes the tasks off the list that need nothing more. */
  dismissFinished(): void {
    for (const { id, state } of this.tasks.peek()) if (isFinished(state.peek())) this.dismiss(id);
  }

  /** The network is back. */
  wake(): void {
    for (const { control } of this.#running.values()) control.wake();
  }

  #show(stored: StoredTask): ShownTask {
    const task = new RunningTask(stored, this.#parts);
    this.#running.set(task.id, task);
    this.tasks.value = [...this.tasks.peek(), task];
    if (stored.state.end === null) void this.#run(task);
    return task;
  }

  async #run(task: RunningTask): Promise<void> {
    const { alone, journal, onEnd } = this.#parts;
    if (task.state.peek() === NEW_TASK) await task.store();
    await alone(`stackroom-storage-task-${task.id}`, () => task.isElsewhere.value = true, async () => {
      if (task.isElsewhere.peek()) {
        const stored = await journal.read(task.id);
        task.isElsewhere.value = false;
        if (stored === null) return this.dismiss(task.id);
        task.change(stored.state);
        if (stored.state.end !== null) return;
      }
      await task.save();
      const end = await task.perform();
      batch(() => {
        task.isAway.value = false;
        task.change({ end, isCanceling: false });
        this.lastEnded.value = task;
      });
      await task.save();
      onEnd(task.plan, task.state.peek());
    });
  }
}

/** Whether an earlier page stopped the task because it lacked the code: this one has it. */
function isOfOldRelease({ state: { end } }: StoredTask): boolean {
  return end?.how === "stopped" && end.status === OUTDATED;
}

class RunningTask implements ShownTask {
  readonly id: string;
  readonly plan: TaskPlan;
  readonly state = signal(NEW_TASK);
  readonly isAway = signal(false);
  readonly isElsewhere = signal(false);
  readonly control: TaskControl;
  readonly #stored: StoredTask;
  readonly #journal: TaskJournal;

  constructor(stored: StoredTask, { account, call, clock, random, journal }: TaskListParts) {
    this.id = stored.id;
    this.plan = stored.plan;
    this.state.value = stored.state;
    this.#stored = stored;
    this.#journal = journal;
    this.control = new TaskControl({
      account,
      call,
      clock,
      random,
      state: () => this.state.peek(),
      change: (part) => this.change(part),
      save: () => this.save(),
      onAway: (isAway) => this.isAway.value = isAway,
    });
  }

  change(part: Partial<TaskState>): void {
    this.state.value = { ...this.state.peek(), ...part };
  }

  store(): Promise<void> {
    return this.#journal.put(this.#stored);
  }

  save(): Promise<void> {
    return this.#journal.putState(this.id, this.state.peek());
  }

  async perform(): Promise<TaskEnd> {
    try {
      const { runTask } = await loadRunTask();
      return await runTask(this.control, this.plan) ?? { how: this.state.peek().isCanceling ? "canceled" : "done" };
    } catch (error) {
      if (!(error instanceof TaskStopped)) throw error;
      return this.state.peek().isCanceling ? { how: "canceled" } : { how: "stopped", status: error.status };
    }
  }
}

/** The code of tasks is loaded with the first one: most visits have none. @throws TaskStopped */
async function loadRunTask() {
  try {
    return await loadCode(() => import("./run_task.ts"));
  } catch (error) {
    throw new TaskStopped(error instanceof OutdatedPage ? OUTDATED : 0);
  }
}
