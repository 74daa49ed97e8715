import type { TaskClock } from "@/lib/tasks/task_keys.ts";

/** A clock that stands still unless it is advanced. */
export class FakeClock implements TaskClock {
  #now = 1000;
  #sleeping: { readonly at: number; readonly wake: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        this.#sleeping = this.#sleeping.filter((sleeper) => sleeper !== entry);
        signal?.removeEventListener("abort", wake);
        resolve();
      };
      const entry = { at: this.#now + ms, wake };
      this.#sleeping.push(entry);
      signal?.addEventListener("abort", wake, { once: true });
      if (signal?.aborted) wake();
    });
  }

  /** Lets so many ms pass, and wakes what sleeps until then in its order. */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    for (;;) {
      await settle();
      const due = this.#sleeping.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0];
      if (!due) break;
      this.#now = Math.max(this.#now, due.at);
      due.wake();
    }
    this.#now = end;
    await settle();
  }
}

/** Resolves once the promises that are resolved now have had their effects. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
