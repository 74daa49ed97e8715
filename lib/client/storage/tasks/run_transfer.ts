import { forEachConcurrent } from "@/lib/std/for_each_concurrent.ts";
import { targetKey, type TransferStep } from "@/lib/presentation/storage/transfer_plan.ts";
import type { DoorAnswer } from "@/lib/client/storage/door.ts";
import { freeKey, numberedStart } from "@/lib/presentation/storage/upload_names.ts";
import { type Found, foundObject, foundObjects, keysBelow } from "./keys_below.ts";
import { type TaskControl, TaskStopped } from "./task_control.ts";
import { doorMessage } from "./door_message.ts";
import type { TransferTaskPlan } from "@/lib/presentation/storage/task_record.ts";

/** Objects between two moments at which it is stored how far the task is. */
const BATCH = 100;
const CONCURRENCY = 4;
/** Forbidden objects in a row after which the others would be as well. */
const MAX_FORBIDDEN = 5;
/** Objects with a number in their name that are looked at in one list. */
const MAX_NUMBERED = 1000;
const OBJECT = "/buckets/:bucket/objects/:key";

interface Names {
  readonly from: string;
  readonly to: string;
}

/**
 * Copies objects inside the store, one by one; of a move each source is deleted once its copy is there. It goes on where
 * its state says: what is done twice then is the same as done once.
 *
 * @throws TaskStopped
 */
export async function runTransfer(control: TaskControl, plan: TransferTaskPlan): Promise<void> {
  const transfer = new Transfer(control, plan);
  if (control.state.total === null) control.change({ total: plan.objects });
  for await (const { names, next, isRepeated } of batches(control, plan)) {
    const { done, deleted, skipped, renamed, failed, faults } = control.state;
    try {
      await forEachConcurrent(names, CONCURRENCY, async (name) => {
        await transfer.one(name);
        if (!isRepeated) await control.save();
      });
    } catch (error) {
      if (isRepeated) control.change({ done, deleted, skipped, renamed, failed, faults });
      throw error;
    }
    if (control.state.isCanceling) return;
    control.change(next);
    await control.save();
  }
}

interface Batch {
  readonly names: readonly Names[];
  /** Whether all of it comes again after an interruption; else only what is left of it does. */
  readonly isRepeated: boolean;
  /** Where the task goes on after it. */
  readonly next: { readonly step: number; readonly after: string };
}

async function* batches(control: TaskControl, { kind, steps, place }: TransferTaskPlan): AsyncGenerator<Batch> {
  let { step, after } = control.state;
  while (step < steps.length) {
    const current = steps[step];
    if (current.kind === "object") {
      const objects = objectsFrom(steps, step);
      step += objects.length;
      yield { names: objects, isRepeated: true, next: { step, after: "" } };
    } else {
      for await (const keys of keysBelow(control, { bucket: place.bucket, prefix: current.from }, after, BATCH)) {
        const names = keys.map((key) => ({ from: key, to: targetKey(current, key) }));
        yield { names, isRepeated: kind === "copy", next: { step, after: keys[keys.length - 1] } };
      }
      step++;
      after = "";
      control.change({ step, after });
    }
  }
}

/** The objects of a batch that stand next to each other. */
function objectsFrom(steps: readonly TransferStep[], first: number): readonly TransferStep[] {
  const batch = steps.slice(first, first + BATCH);
  const folder = batch.findIndex(({ kind }) => kind === "folder");
  return folder < 0 ? batch : batch.slice(0, folder);
}

class Transfer {
  readonly #control: TaskControl;
  readonly #plan: TransferTaskPlan;
  /** In a row. */
  #forbidden = 0;
  /** Keys to which objects are on their way. */
  readonly #claimed = new Set<string>();

  constructor(control: TaskControl, plan: TransferTaskPlan) {
    this.#control = control;
    this.#plan = plan;
  }

  async one(names: Names): Promise<void> {
    if (this.#control.state.isCanceling) return;
    const { to } = names;
    // Another object may be about to get this name as one beside a name in use.
    if (this.#claimed.has(to)) return await this.#beside(names);
    await this.#claiming(to, async () => {
      const there = this.#plan.onTaken === "replace" ? null : await this.#look(this.#plan.to.bucket, to);
      await (there === null ? this.#copy(names) : this.#taken(names, there));
    });
  }

  /** @returns whether the copy is there */
  async #copy({ from, to }: Names): Promise<boolean> {
    const answer = await this.#control.call(`${OBJECT}/copy`, { bucket: this.#plan.to.bucket, key: to }, {
      method: "POST",
      json: { source_bucket: this.#plan.place.bucket, source_key: from },
    });
    if (answer.status === 200) {
      await this.#copied(from);
      return true;
    }
    if (answer.status === 404 && await this.#wasMoved({ from, to })) this.#count();
    else this.#failed(from, answer);
    return false;
  }

  /** A name in use: by the copy of an earlier try, or by another object, which stays. */
  async #taken({ from, to }: Names, there: Found): Promise<void> {
    const source = await this.#look(this.#plan.place.bucket, from);
    if (source === null && await this.#wasMoved({ from, to })) return this.#count();
    if (source !== null && isSame(source, there)) return await this.#copied(from);
    if (this.#plan.onTaken === "keep both") return await this.#beside({ from, to });
    this.#control.change({ skipped: this.#control.state.skipped + 1 });
  }

  /**
   * Gives an object a number in its name. An object that has such a name and the same content is the copy of an earlier
   * try: a task that goes on after an interruption creates no second one.
   */
  async #beside({ from, to }: Names): Promise<void> {
    const { bucket } = this.#plan.to;
    const source = await this.#look(this.#plan.place.bucket, from);
    const beside = await this.#objectsFrom(bucket, numberedStart(to));
    if (source !== null && [...beside.values()].some((there) => isSame(source, there))) return await this.#copied(from);
    for (;;) {
      const free = freeKey(to, (key) => beside.has(key) || this.#claimed.has(key));
      const isFree = await this.#claiming(free, async () => {
        const there = await this.#look(bucket, free);
        if (there !== null) beside.set(free, there);
        else if (await this.#copy({ from, to: free })) {
          this.#control.change({ renamed: this.#control.state.renamed + 1 });
        }
        return there === null;
      });
      if (isFree) return;
    }
  }

  async #claiming<T>(key: string, work: () => Promise<T>): Promise<T> {
    this.#claimed.add(key);
    try {
      return await work();
    } finally {
      this.#claimed.delete(key);
    }
  }

  async #copied(from: string): Promise<void> {
    const control = this.#control;
    this.#forbidden = 0;
    control.change({ done: control.state.done + 1 });
    if (this.#plan.kind === "copy") return;
    const answer = await control.call(OBJECT, { bucket: this.#plan.place.bucket, key: from }, { method: "DELETE" });
    if (answer.status === 200 || answer.status === 404) control.change({ deleted: control.state.deleted + 1 });
    else this.#failed(from, answer);
  }

  /** Whether an earlier try has moved an object: its source is gone, and its copy is there. */
  async #wasMoved({ from, to }: Names): Promise<boolean> {
    if (this.#plan.kind === "copy") return false;
    const source = await this.#look(this.#plan.place.bucket, from);
    return source === null && await this.#look(this.#plan.to.bucket, to) !== null;
  }

  #count(): void {
    const { done, deleted } = this.#control.state;
    this.#control.change({ done: done + 1, deleted: deleted + 1 });
  }

  #failed(key: string, answer: DoorAnswer): void {
    const { status } = answer;
    this.#forbidden = status === 403 ? this.#forbidden + 1 : 0;
    if (this.#forbidden >= MAX_FORBIDDEN) throw new TaskStopped(status);
    this.#control.addFault({ key, status, message: doorMessage(answer) });
  }

  async #look(bucket: string, key: string): Promise<Found | null> {
    return foundObject(await this.#list(bucket, key, 1), key);
  }

  /** The first objects whose keys begin with a text. */
  async #objectsFrom(bucket: string, prefix: string): Promise<Map<string, Found>> {
    return foundObjects(await this.#list(bucket, prefix, MAX_NUMBERED));
  }

  async #list(bucket: string, prefix: string, max_keys: number): Promise<unknown> {
    const { status, json } = await this.#control.call("/buckets/:bucket/objects", { bucket, prefix, max_keys });
    if (status !== 200) throw new TaskStopped(status);
    return json;
  }
}

function isSame(a: Found, b: Found): boolean {
  return a.etag === b.etag && a.bytes === b.bytes;
}
