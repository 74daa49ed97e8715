import { forEachConcurrent } from "@/lib/std/for_each_concurrent.ts";
import { targetKey, type TransferStep } from "@/lib/presentation/storage/transfer_plan.ts";
import type { DoorAnswer } from "@/lib/client/storage/door.ts";
import { freeKey, numberedStart } from "@/lib/std/free_key.ts";
import { type Found, foundObject, foundObjects, keysBelow } from "./keys_below.ts";
import { type TaskControl, TaskStopped } from "./task_control.ts";
import { doorMessage } from "./door_message.ts";
import type { TransferTaskPlan } from "@/lib/presentation/storage/task_record.ts";

/** Objects between two moments at which it is stored how far the task is. */
const BATCH = 100;
const CONCURRENCY = 4;
/** Forbidden objects in a row after which the others would be as well. */
const MAX_FORBIDDEN = 5;
/** How often an object is copied that is overwritten meanwhile. */
const MAX_COPIES = 3;
/** Objects with a number in their name that are looked at in one list. */
const MAX_NUMBERED = 1000;
const OBJECT = "/buckets/:bucket/objects/:key";
/** A condition did not hold. */
const CHANGED = 412;
/** The store does not support a condition. */
const UNSUPPORTED = 501;

interface Names {
  readonly from: string;
  readonly to: string;
}

/**
 * Copies objects inside the store, one by one; of a move each source is deleted once its copy is there. It goes on where
 * its state says: what is done twice then is the same as done once. Conditions protect a source that is overwritten and a
 * target that appears meanwhile. Where the store does not support one, the object is looked up just before.
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
  /** Conditions that the store supports, as far as is known. */
  readonly #supports = { target: true, source: true, deletion: true };

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
      const there = await this.#lookAtTarget(to) ?? await this.#copy(names);
      if (typeof there === "object") await this.#taken(names, there);
    });
  }

  /** @returns whether the copy is there, or the object that has come to its name meanwhile */
  async #copy({ from, to }: Names): Promise<boolean | Found> {
    const { place, to: target, onTaken } = this.#plan;
    const supports = this.#supports;
    for (let copies = 1;;) {
      const source = await this.#look(place.bucket, from);
      const isTargetGuarded = supports.target && onTaken !== "replace";
      const isSourceGuarded = supports.source && source?.etag;
      const answer = await this.#control.call(`${OBJECT}/copy`, { bucket: target.bucket, key: to }, {
        method: "POST",
        json: { source_bucket: place.bucket, source_key: from },
        headers: {
          ...isTargetGuarded ? { "if-none-match": "*" } : {},
          ...isSourceGuarded ? { "x-amz-copy-source-if-match": isSourceGuarded } : {},
        },
      });
      const { status } = answer;
      if (status === 200) {
        await this.#copied(from, source);
        return true;
      }
      if (status === UNSUPPORTED && isTargetGuarded) supports.target = false;
      else if (status === UNSUPPORTED && isSourceGuarded) supports.source = false;
      else if (status !== CHANGED || ++copies > MAX_COPIES) {
        if (status === 404 && await this.#wasMoved({ from, to })) this.#count();
        else this.#failed(from, answer);
        return false;
      }
      const there = await this.#lookAtTarget(to);
      if (there !== null) return there;
    }
  }

  /** Null where the key is free, or its object is to be replaced. */
  async #lookAtTarget(key: string): Promise<Found | null> {
    const { to, onTaken } = this.#plan;
    return onTaken === "replace" ? null : await this.#look(to.bucket, key);
  }

  /** A name in use: by the copy of an earlier try, or by another object, which stays. */
  async #taken({ from, to }: Names, there: Found): Promise<void> {
    const source = await this.#look(this.#plan.place.bucket, from);
    if (source === null && await this.#wasMoved({ from, to })) return this.#count();
    if (source !== null && isSame(source, there)) return await this.#copied(from, source);
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
    if (source !== null && [...beside.values()].some((there) => isSame(source, there))) {
      return await this.#copied(from, source);
    }
    for (;;) {
      const free = freeKey(to, (key) => beside.has(key) || this.#claimed.has(key));
      const isFree = await this.#claiming(free, async () => {
        const there = await this.#look(bucket, free) ?? await this.#copy({ from, to: free });
        if (typeof there === "object") beside.set(free, there);
        else if (there) this.#control.change({ renamed: this.#control.state.renamed + 1 });
        return typeof there !== "object";
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

  /** @param source as it was when it was copied */
  async #copied(from: string, source: Found | null): Promise<void> {
    const control = this.#control;
    this.#forbidden = 0;
    control.change({ done: control.state.done + 1 });
    if (this.#plan.kind === "copy") return;
    const answer = await this.#delete(from, source?.etag ?? null);
    if (answer.status === 200 || answer.status === 404) control.change({ deleted: control.state.deleted + 1 });
    else this.#failed(from, answer);
  }

  /** Deletes a source unless it was overwritten after the copy. */
  async #delete(key: string, etag: string | null): Promise<Pick<DoorAnswer, "status" | "json">> {
    const { bucket } = this.#plan.place;
    if (etag !== null && this.#supports.deletion) {
      const headers = { "if-match": etag };
      const answer = await this.#control.call(OBJECT, { bucket, key }, { method: "DELETE", headers });
      if (answer.status !== UNSUPPORTED) return answer;
      this.#supports.deletion = false;
    }
    const present = await this.#look(bucket, key);
    if (present !== null && present.etag !== etag) return { status: CHANGED, json: null };
    return await this.#control.call(OBJECT, { bucket, key }, { method: "DELETE" });
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

  #failed(key: string, answer: Pick<DoorAnswer, "status" | "json">): void {
    const { status } = answer;
    this.#forbidden = status === 403 ? this.#forbidden + 1 : 0;
    if (this.#forbidden >= MAX_FORBIDDEN) throw new TaskStopped(status);
    this.#control.addFault({ key, status, message: status === CHANGED ? "" : doorMessage(answer) });
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
