import type { Clock } from "@/lib/pages/browser/poller_client.ts";

/** A clock that stands still until it is moved. */
export class HeldClock implements Clock {
  #now = 0;
  #timers: { readonly at: number; readonly call: () => void }[] = [];

  now(): number {
    return this.#now;
  }

  after(ms: number, call: () => void): () => void {
    const timer = { at: this.#now + ms, call };
    this.#timers.push(timer);
    return () => this.#timers = this.#timers.filter((other) => other !== timer);
  }

  /** Moves on, and lets everything that is due happen in its order. */
  async pass(seconds: number): Promise<void> {
    const end = this.#now + seconds * 1000;
    for (;;) {
      const next = this.#timers.filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.#timers = this.#timers.filter((other) => other !== next);
      this.#now = Math.max(this.#now, next.at);
      next.call();
      await settled();
    }
    this.#now = end;
    await settled();
  }
}

/** What was begun and needs nothing more has ended. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}
