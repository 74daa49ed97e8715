import { forEachConcurrent } from "@/lib/std/for_each_concurrent.ts";
import { targetKey, type TransferStep } from "@/lib/presentation/storage/transfer_plan.ts";
import type { DoorAnswer } from "@/lib/client/storage/door.ts";
import { type Found, foundObject, keysBelow } from "./keys_below.ts";
import { type TaskControl, TaskStopped } from "./task_control.ts";
import { doorMessage } from "./door_message.ts";
import type { TransferTaskPlan } from "@/lib/presentation/storage/task_record.ts";

/** Objects between two moments at which it is stored how far the task is. */
const BATCH = 100;
const CONCURRENCY = 4;
/** Forbidden objects in a row after which the others would be as well. */
const MAX_FORBIDDEN = 5;
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
    const { done, deleted, skipped, failed, faults } = control.state;
    try {
      await forEachConcurrent(names, CONCURRENCY, async (name) => {
        await transfer.one(name);
        if (!isRepeated) await control.save();
      });
    } catch (error) {
      if (isRepeated) control.change({ done, deleted, skipped, failed, faults });
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

  constructor(control: TaskControl, plan: TransferTaskPlan) {
    this.#control = control;
    this.#plan = plan;
  }

  async one({ from, to }: Names): Promise<void> {
    const control = this.#control;
    if (control.state.isCanceling) return;
    if (this.#plan.onTaken === "skip") {
      const there = await this.#look(this.#plan.to.bucket, to);
      if (there !== null) return await this.#taken({ from, to }, there);
    }
    const answer = await control.call(`${OBJECT}/copy`, { bucket: this.#plan.to.bucket, key: to }, {
      method: "POST",
      json: { source_bucket: this.#plan.place.bucket, source_key: from },
    });
    if (answer.status === 404 && await this.#wasMoved({ from, to })) return this.#count();
    if (answer.status !== 200) return this.#failed(from, answer);
    await this.#copied(from);
  }

  /** A name in use: by the copy of an earlier try, or by another object, which stays. */
  async #taken({ from, to }: Names, there: Found): Promise<void> {
    const source = await this.#look(this.#plan.place.bucket, from);
    if (source === null && await this.#wasMoved({ from, to })) return this.#count();
    if (source !== null && source.etag === there.etag && source.bytes === there.bytes) return await this.#copied(from);
    this.#control.change({ skipped: this.#control.state.skipped + 1 });
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
    const { status, json } = await this.#control.call("/buckets/:bucket/objects", { bucket, prefix: key, max_keys: 1 });
    if (status !== 200) throw new TaskStopped(status);
    return foundObject(json, key);
  }
}
