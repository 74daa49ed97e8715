import type { callDoor, DoorAnswer } from "@/lib/client/storage/door.ts";
import type { StoredTask, TaskJournal } from "@/lib/client/storage/tasks/task_journal.ts";
import type { TaskState } from "@/lib/presentation/storage/task_record.ts";

/** A call that a test sees, and may answer in place of the store. */
export interface SeenCall {
  readonly operation: string;
  readonly method: string;
  readonly bucket: string;
  readonly key: string;
}

/** Buckets behind the door, as far as moves and undoing need them: keys with their contents. */
export class FakeStore {
  readonly buckets = new Map<string, Map<string, string>>();
  readonly calls: SeenCall[] = [];
  /** Returns a status for a call that is to fail; `late`: after the store has done it. */
  /** Conditions that the store rejects with 501. */
  unsupported: readonly string[] = [];
  fault: (call: SeenCall) => number | { readonly late: number } | null = () => null;

  constructor(keys: Readonly<Record<string, readonly string[]>>) {
    for (const [bucket, names] of Object.entries(keys)) {
      this.buckets.set(bucket, new Map(names.map((key) => [key, `bytes of ${key}`])));
    }
  }

  keys(bucket: string): string[] {
    return [...this.buckets.get(bucket)?.keys() ?? []].sort();
  }

  readonly call: typeof callDoor = async (
    operation,
    _account,
    parameters,
    { method = "GET", json, headers = {} } = {},
  ) => {
    await Promise.resolve();
    const { bucket, key = "" } = parameters as Record<string, string>;
    const call = { operation, method, bucket, key };
    this.calls.push(call);
    const fault = this.fault(call);
    if (typeof fault === "number") return answer(fault);
    const done = this.#refused(call, headers, json as Record<string, string>) ??
      this.#perform(call, parameters as Record<string, string | number>, json as Record<string, string>);
    return fault === null ? done : answer(fault.late);
  };

  /** The ETag of an object is its content. */
  #refused(
    { operation, bucket, key }: SeenCall,
    headers: Readonly<Record<string, string>>,
    json: Readonly<Record<string, string>>,
  ): DoorAnswer | null {
    const names = Object.keys(headers);
    if (names.some((name) => this.unsupported.includes(`${name} ${operation}`))) return answer(501);
    const target = this.buckets.get(bucket)?.get(key);
    const source = this.buckets.get(json?.source_bucket)?.get(json?.source_key);
    const holds = (headers["if-match"] ?? target) === target &&
      (headers["if-none-match"] === undefined || target === undefined) &&
      (headers["x-amz-copy-source-if-match"] ?? source) === source;
    return holds || (operation.endsWith("/copy") && source === undefined) ? null : answer(412);
  }

  #perform(
    { operation, method, bucket, key }: SeenCall,
    { prefix = "", start_after = "", max_keys = 1000 }: Readonly<Record<string, string | number>>,
    json: Readonly<Record<string, string>>,
  ): DoorAnswer {
    const objects = this.buckets.get(bucket);
    if (!objects) return answer(404);
    switch (`${method} ${operation}`) {
      case "GET /buckets/:bucket/objects": {
        const keys = this.keys(bucket).filter((name) => name.startsWith(String(prefix)) && name > String(start_after));
        const page = keys.slice(0, Number(max_keys)).map((Key) => ({
          Key,
          Size: objects.get(Key)?.length,
          ETag: objects.get(Key),
        }));
        return answer(200, { objects: page, is_truncated: keys.length > page.length });
      }
      case "POST /buckets/:bucket/objects/:key/copy": {
        const source = this.buckets.get(json.source_bucket)?.get(json.source_key);
        if (source === undefined) return answer(404);
        objects.set(key, source);
        return answer(200, {});
      }
      case "DELETE /buckets/:bucket/objects/:key":
        return answer(objects.delete(key) ? 200 : 404);
      default:
        return answer(404);
    }
  }
}

function answer(status: number, json: unknown = null): DoorAnswer {
  return { status, json, headers: new Headers() };
}

/** A journal that outlives the lists of a test, as that of a browser outlives its pages. */
export class MemoryTasks implements TaskJournal {
  readonly #tasks = new Map<string, StoredTask>();

  all(account: string) {
    return Promise.resolve([...this.#tasks.values()].filter((task) => task.account === account));
  }

  read(id: string) {
    return Promise.resolve(this.#tasks.get(id) ?? null);
  }

  put(task: StoredTask) {
    this.#tasks.set(task.id, task);
    return Promise.resolve();
  }

  putState(id: string, state: TaskState) {
    const task = this.#tasks.get(id);
    if (task) this.#tasks.set(id, { ...task, state });
    return Promise.resolve();
  }

  remove(id: string) {
    this.#tasks.delete(id);
    return Promise.resolve();
  }
}
