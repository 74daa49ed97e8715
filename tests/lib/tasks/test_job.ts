import assert from "node:assert/strict";
import type { Job } from "@/lib/tasks/task_keys.ts";
import type { Blobs } from "@/lib/tasks/task.ts";
import { CALLER } from "./model_store.ts";

/** A job whose checkpoints are recorded; `stopAt` breaks it off before the checkpoint of that number is stored. */
export class TestJob<P> {
  readonly stored: P[] = [];
  /** Those that were stored at once. */
  readonly storedAtOnce: P[] = [];
  readonly blobs: Map<string, Uint8Array>;
  stopAt = Infinity;
  /** Whether only what must be stored at once is stored, as where a process is killed soon after. */
  isSparing = false;
  readonly #cancel = new AbortController();
  readonly #lease = new AbortController();
  readonly #work: (job: Job<P>) => Promise<P>;
  #last: P;

  constructor({ progress, blobs }: { progress: P; blobs: Blobs }, work: (job: Job<P>) => Promise<P>) {
    this.blobs = new Map(blobs);
    this.#last = progress;
    this.#work = work;
  }

  cancel(): void {
    this.#cancel.abort(new Error("cancelled"));
  }

  async run(): Promise<P> {
    const signal = AbortSignal.any([this.#cancel.signal, this.#lease.signal]);
    return await this.#work({
      id: "1",
      bucket: "letters",
      caller: { ...CALLER, signal },
      progress: JSON.parse(JSON.stringify(this.#last)),
      signal,
      leaseSignal: this.#lease.signal,
      read: (work) => work(),
      yieldTurn: () => Promise.resolve(false),
      checkpoint: (progress, when) => {
        if (this.stored.length + 1 === this.stopAt) {
          this.stopAt = Infinity;
          return Promise.reject(new Error("stopped"));
        }
        this.stored.push(progress);
        if (when === "at once") this.storedAtOnce.push(progress);
        if (when === "at once" || !this.isSparing) this.#last = progress;
        return signal.aborted ? Promise.reject(signal.reason) : Promise.resolve();
      },
      readBlobs: (names) => Promise.resolve(names.map((name) => new Uint8Array(this.blobs.get(name) ?? []))),
      writeBlobs: () => Promise.resolve(),
    });
  }

  /** As {@link run}, again after each time that it is broken off. */
  async runThrough(): Promise<P> {
    try {
      return await this.run();
    } catch (error) {
      assert.equal((error as Error).message, "stopped");
      return await this.run();
    }
  }
}
