import { batch, signal } from "@preact/signals";
import { type Clock, wait } from "@/lib/pages/browser/poller_client.ts";
import { codedText } from "@/lib/pages/coded_sentences.ts";
import { storageApiPath } from "./storage_paths.ts";
import { NEW_TASK, type TaskEnd, type TaskFault, type TaskPlan, type TaskState } from "./task_record.ts";
import { startProblem } from "./task_sentences.ts";
import { clip, entries, integerAt, member, stringAt } from "@/lib/std/untrusted.ts";
import type { ApiResponse, callStorageApi } from "./storage_api_client.ts";

const MAX_MESSAGE = 300;

/** The message of a failed request; "" without one. */
export function apiMessage({ json }: Pick<ApiResponse, "json">): string {
  const detail = member(json, "detail");
  const said = typeof detail === "string" ? codedText(json, "detail") : codedText(detail, "error");
  return clip(said, MAX_MESSAGE);
}

const TRANSFER = { path: "/buckets/:bucket/transfer", done: "done" };

/** The operations of the gateway that perform tasks, and the member of their responses that counts what is done. */
const OPERATIONS: Readonly<Record<TaskPlan["kind"], { readonly path: string; readonly done: string }>> = {
  zip: { path: "/buckets/:bucket/objects/download", done: "completed" },
  delete: { path: "/buckets/:bucket/objects/delete-task", done: "deleted" },
  move: TRANSFER,
  copy: TRANSFER,
  undo: TRANSFER,
};

/** The progress of a task by a response; null after a transient failure. */
function readProgress({ kind }: TaskPlan, answer: ApiResponse): Partial<TaskState> | null {
  const { status, json } = answer;
  if (status === 404 || status === 410) return { end: { how: "gone" } };
  const failure = stringAt(json, "detail", "status") === "failed" ? member(json, "detail") : null;
  if (failure !== null) return { end: failed(failure) };
  if (status !== 200 && status !== 202) {
    const isPassing = status === 0 || status === 429 || status >= 500;
    return isPassing ? null : { end: { how: "failed", status, message: apiMessage(answer) } };
  }
  return {
    taskId: stringAt(json, "task_id"),
    total: integerAt(json, "total"),
    done: integerAt(json, OPERATIONS[kind].done),
    deleted: integerAt(json, "deleted"),
    skipped: integerAt(json, "skipped"),
    renamed: integerAt(json, "renamed"),
    failed: integerAt(json, "failed"),
    bytes: integerAt(json, "bytes"),
    faults: [...entries(member(json, "errors")), ...entries(member(json, "failed_keys"))].map(faultOf),
    startedAt: instant(stringAt(json, "started_at")),
    endedAt: instant(stringAt(json, "ended_at")),
    end: endOf(json),
  };
}

function endOf(json: unknown): TaskEnd | null {
  switch (stringAt(json, "status")) {
    case "done":
      return { how: "done" };
    case "canceled":
      return { how: "canceled" };
    case "failed":
      return failed(json);
    case "ready":
      return { how: stringAt(json, "download_url") === null ? "gone" : "done" };
    default:
      return null;
  }
}

function failed(json: unknown): TaskEnd {
  const status = stringAt(json, "code") === "task_forbidden" ? 403 : 0;
  return { how: "failed", status, message: codedText(json, "error") };
}

/** A key alone where nothing else is known. */
function faultOf(error: unknown): TaskFault {
  if (typeof error === "string") return { key: error, status: 0, message: "" };
  const message = codedText(error, "Message");
  const isForbidden = stringAt(error, "Code") === "AccessDenied";
  const status = isForbidden ? 403 : stringAt(error, "code") === null ? integerAt(error, "Status") : 0;
  return {
    key: stringAt(error, "Key") ?? "",
    status,
    message: status === 412 ? "" : message || (stringAt(error, "Code") ?? ""),
  };
}

function instant(text: string | null): number | null {
  const ms = text === null ? NaN : Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

/** After this time a task is not shown, ms. */
const FORGET_MS = 24 * 60 * 60 * 1000;
/** Waits between two looks at a task, ms: the first and the longest. */
const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 2000;

/** A task as a page shows it. */
export type ShownTask = Pick<RunningTask, "id" | "plan" | "state" | "isAway">;

/** A task as the browser remembers it. */
interface StoredTask {
  readonly id: string;
  /** ms since 1970 */
  readonly createdAt: number;
  readonly plan: TaskPlan;
  readonly state: TaskState;
}

interface TaskListParts {
  readonly account: string;
  readonly call: typeof callStorageApi;
  /** Shared by all pages of the browser. */
  readonly storage: Pick<Storage, "getItem" | "setItem">;
  readonly clock: Clock;
  /** A task has ended. @param isFirst whether no other page has handled that */
  readonly onEnd: (plan: TaskPlan, state: TaskState, isFirst: boolean) => void;
}

/** The tasks of an account that this browser has started: the gateway performs them, and each page shows how far they are. */
export class TaskList {
  readonly tasks = signal<readonly ShownTask[]>([]);
  /** The task that ended last while this page was open. */
  readonly lastEnded = signal<ShownTask | null>(null);
  /** The name under which the browser remembers them. */
  readonly name: string;
  readonly #shown = new Map<string, RunningTask>();

  constructor(private readonly parts: TaskListParts) {
    this.name = `stackroom.tasks.${parts.account}`;
  }

  /**
   * Shows the tasks that pages of this browser have started and not dismissed.
   *
   * @param isOpen whether this page was open already, so that unknown tasks are new
   */
  restore(isOpen = false): void {
    const stored = this.#stored();
    const isKept = ({ id, state }: RunningTask) =>
      state.peek().taskId === null || stored.some((task) => task.id === id);
    for (const task of [...this.#shown.values()]) if (!isKept(task)) this.#remove(task.id);
    for (const task of stored) {
      if (this.#shown.has(task.id)) continue;
      const shown = this.#show(task);
      if (isOpen && task.state.end !== null) this.#ended(shown, {});
      else void this.#follow(shown);
    }
  }

  /**
   * Has the gateway start a task.
   *
   * @returns null, or a sentence why it was not started
   */
  async start(plan: TaskPlan, json: unknown): Promise<string | null> {
    const problem = await this.#post(() => this.#show(this.#newTask(plan)), plan, json);
    return problem && startProblem(problem.status, problem.message);
  }

  /**
   * The same of a task that is shown at once, also where it cannot be started.
   *
   * @param read what the gateway is sent
   * @returns whether it was started
   */
  async startShown(plan: TaskPlan, read: () => Promise<{ readonly json: unknown } | TaskEnd>): Promise<boolean> {
    const task = this.#show(this.#newTask(plan));
    const order = await read();
    const problem = "how" in order ? order : await this.#post(() => task, plan, order.json);
    if (problem === null) return true;
    task.change({ end: problem });
    this.lastEnded.value = task;
    return false;
  }

  /** Ends a task after what is under way. */
  cancel(id: string): void {
    const task = this.#shown.get(id);
    const { taskId } = task?.state.peek() ?? NEW_TASK;
    if (!task || taskId === null) return;
    task.change({ isCanceling: true });
    const { path } = OPERATIONS[task.plan.kind];
    const { account, call } = this.parts;
    const parameters = { bucket: task.plan.place.bucket, task_id: taskId };
    void call(`${path}/:task_id/cancel`, account, parameters, { method: "POST" }).then(({ status }) => {
      if (status !== 200) task.change({ isCanceling: false });
      task.wake();
    });
  }

  /** Takes a task that has ended off the list, in all pages. */
  dismiss(id: string): void {
    this.#remove(id);
    this.#store(this.#stored().filter((task) => task.id !== id));
  }

  /** Takes all tasks that have ended off the list. */
  dismissFinished(): void {
    for (const { id, state } of this.tasks.peek()) if (state.peek().end !== null) this.dismiss(id);
  }

  /** The network is back. */
  wake(): void {
    for (const task of this.#shown.values()) task.wake();
  }

  #newTask(plan: TaskPlan): StoredTask {
    const createdAt = this.parts.clock.now();
    return { id: `${createdAt}-${Math.floor(Math.random() * 1e9)}`, createdAt, plan, state: NEW_TASK };
  }

  #show(stored: StoredTask): RunningTask {
    const task = new RunningTask(stored);
    this.#shown.set(task.id, task);
    this.tasks.value = [...this.tasks.peek(), task];
    return task;
  }

  #remove(id: string): void {
    this.#shown.delete(id);
    this.tasks.value = this.tasks.peek().filter((task) => task.id !== id);
  }

  /** @returns null where it was started, else why it was not */
  async #post(
    show: () => RunningTask,
    plan: TaskPlan,
    json: unknown,
  ): Promise<Extract<TaskEnd, { how: "failed" }> | null> {
    const { account, call, clock, onEnd } = this.parts;
    const { bucket } = plan.place;
    const answer = await call(OPERATIONS[plan.kind].path, account, { bucket }, { method: "POST", json });
    const started = answer.status === 202 ? readProgress(plan, answer) : null;
    if (started === null) {
      const end = { how: "failed", status: answer.status, message: apiMessage(answer) } as const;
      onEnd(plan, { ...NEW_TASK, end }, true);
      return end;
    }
    const task = show();
    task.change({ ...started, end: null });
    this.#save(task);
    // Its dialog closes first.
    if (started.end) clock.after(0, () => this.#ended(task, started));
    else void this.#follow(task);
    return null;
  }

  /** Looks at a task until it has ended, or is taken off the list. */
  async #follow(task: RunningTask): Promise<void> {
    const { account, call } = this.parts;
    const { plan } = task;
    const { bucket } = plan.place;
    for (let waitMs = FIRST_WAIT_MS;; waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 1.5)) {
      const { taskId, end } = task.state.peek();
      if (taskId === null || end !== null || this.#shown.get(task.id) !== task) return;
      const answer = await call(`${OPERATIONS[plan.kind].path}/:task_id`, account, { bucket, task_id: taskId });
      if (answer.status === 401) return;
      task.isAway.value = answer.status === 0;
      const progress = readProgress(plan, answer);
      if (progress?.end) {
        const ticket = ticketOf(stringAt(answer.json, "download_url"));
        const path = `${OPERATIONS.zip.path}/:task_id/file`;
        const download = ticket && storageApiPath(path, account, { bucket, task_id: taskId, ticket });
        return this.#ended(task, { ...progress, taskId, download });
      }
      if (progress) {
        const { startedAt } = task.state.peek();
        task.change({ ...progress, taskId });
        if (startedAt === null && progress.startedAt) this.#noteStart(task);
      }
      await task.pause(this.parts.clock, waitMs);
    }
  }

  #ended(task: RunningTask, progress: Partial<TaskState>): void {
    const isFirst = this.#stored().some(({ id, state }) => id === task.id && state.end === null);
    batch(() => {
      task.change({ ...progress, isCanceling: false });
      this.lastEnded.value = task;
    });
    if (isFirst) this.#save(task);
    this.parts.onEnd(task.plan, task.state.peek(), isFirst);
  }

  /** Remembers when a task began: a page that is opened once the gateway has forgotten it can undo it all the same. */
  #noteStart(task: RunningTask): void {
    const stored = this.#stored().find(({ id }) => id === task.id)?.state;
    if (stored?.end === null && stored.startedAt === null) this.#save(task);
  }

  #save({ id, createdAt, plan, state }: RunningTask): void {
    this.#store([...this.#stored().filter((task) => task.id !== id), { id, createdAt, plan, state: state.peek() }]);
  }

  #stored(): StoredTask[] {
    const { storage, clock } = this.parts;
    try {
      const all = entries(JSON.parse(storage.getItem(this.name) ?? "[]")) as StoredTask[];
      return all.filter(({ createdAt }) => createdAt > clock.now() - FORGET_MS);
    } catch {
      return [];
    }
  }

  /** Where there is no room for all keys, pages to come offer less: they know what tasks do by name alone. */
  #store(tasks: readonly StoredTask[]): void {
    const named = tasks.map((task) => ({
      ...task,
      plan: { ...task.plan, keys: [], prefixes: [], ...task.plan.kind === "delete" ? { canUndo: false } : {} },
    }));
    for (const kept of [tasks, named]) {
      try {
        return this.parts.storage.setItem(this.name, JSON.stringify(kept));
      } catch {
        // Full, or forbidden: the tasks of this page go on.
      }
    }
  }
}

class RunningTask {
  readonly id: string;
  readonly createdAt: number;
  readonly plan: TaskPlan;
  readonly state = signal(NEW_TASK);
  /** Whether it waits for the network. */
  readonly isAway = signal(false);
  #waiting = new AbortController();

  constructor({ id, createdAt, plan, state }: StoredTask) {
    this.id = id;
    this.createdAt = createdAt;
    this.plan = plan;
    this.state.value = state;
  }

  change(part: Partial<TaskState>): void {
    this.state.value = { ...this.state.peek(), ...part };
  }

  /** Waits; {@link wake} ends that early. */
  async pause(clock: Clock, ms: number): Promise<void> {
    this.#waiting = new AbortController();
    await wait(clock, ms, this.#waiting.signal).catch(() => {});
  }

  wake(): void {
    this.#waiting.abort();
  }
}

function ticketOf(url: string | null): string | null {
  return url === null ? null : new URLSearchParams(url.slice(url.indexOf("?") + 1)).get("ticket");
}
