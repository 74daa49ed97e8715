import { NEW_TASK, type TaskPlan, type TaskState } from "@/lib/presentation/storage/task_record.ts";

/** A task as it is stored: what it does never changes, how far it is does. */
export interface StoredTask {
  readonly id: string;
  readonly account: string;
  /** ms since 1970 */
  readonly createdAt: number;
  readonly plan: TaskPlan;
  readonly state: TaskState;
}

/** The memory of the tasks of this browser, which outlives the page. Where it fails, tasks go on without it. */
export interface TaskJournal {
  /** The tasks of an account, oldest first. */
  all(account: string): Promise<readonly StoredTask[]>;
  /** A task as it is stored now; null: it is not. */
  read(id: string): Promise<StoredTask | null>;
  put(task: StoredTask): Promise<void>;
  putState(id: string, state: TaskState): Promise<void>;
  remove(id: string): Promise<void>;
}

const NAME = "stackroom-storage-tasks";
const VERSION = 1;
/** What a task does, which may be long, apart from how far it is, which is written often. */
const PLANS = "plans";
const STATES = "states";

type StoredPlan = Omit<StoredTask, "state">;

/** The journal in a browser's IndexedDB. */
export function browserJournal(): TaskJournal {
  let opened: Promise<IDBDatabase> | null = null;
  const stores = async (mode: IDBTransactionMode) => {
    const database = await (opened ??= open());
    const transaction = database.transaction([PLANS, STATES], mode);
    return { plans: transaction.objectStore(PLANS), states: transaction.objectStore(STATES) };
  };
  const stored = async <T>(work: () => Promise<T>, otherwise: T): Promise<T> => {
    try {
      return await work();
    } catch {
      // Private windows and full disks: the tasks of this page go on.
      opened = null;
      return otherwise;
    }
  };
  return {
    all: (account) =>
      stored(async () => {
        const { plans, states } = await stores("readonly");
        const [all, keys, values] = await Promise.all([
          result<StoredPlan[]>(plans.getAll()),
          result<IDBValidKey[]>(states.getAllKeys()),
          result<TaskState[]>(states.getAll()),
        ]);
        const stateOf = new Map(keys.map((key, index) => [key, values[index]]));
        return all.filter((plan) => plan.account === account)
          .flatMap((plan) => {
            const state = stateOf.get(plan.id);
            return state ? [{ ...plan, state: wholeState(state) }] : [];
          })
          .sort((a, b) => a.createdAt - b.createdAt);
      }, []),
    read: (id) =>
      stored(async () => {
        const { plans, states } = await stores("readonly");
        const [plan, state] = await Promise.all([
          result<StoredPlan | undefined>(plans.get(id)),
          result<TaskState | undefined>(states.get(id)),
        ]);
        return plan && state ? { ...plan, state: wholeState(state) } : null;
      }, null),
    put: ({ state, ...plan }) =>
      stored(async () => {
        const { plans, states } = await stores("readwrite");
        await Promise.all([result(plans.put(plan, plan.id)), result(states.put(state, plan.id))]);
      }, undefined),
    putState: (id, state) =>
      stored(async () => {
        const { states } = await stores("readwrite");
        await result(states.put(state, id));
      }, undefined),
    remove: (id) =>
      stored(async () => {
        const { plans, states } = await stores("readwrite");
        await Promise.all([result(plans.delete(id)), result(states.delete(id))]);
      }, undefined),
  };
}

/** A state that an earlier version of the page has stored lacks what was added since. */
function wholeState(state: TaskState): TaskState {
  return { ...NEW_TASK, ...state };
}

function open(): Promise<IDBDatabase> {
  const request = indexedDB.open(NAME, VERSION);
  request.onupgradeneeded = () => {
    request.result.createObjectStore(PLANS);
    request.result.createObjectStore(STATES);
  };
  return result(request);
}

function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}
