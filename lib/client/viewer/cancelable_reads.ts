import { ReadQueue } from "@/lib/client/read_queue.ts";

/** Reads a few files at a time, and cancels those that are no longer of use. */
export class CancelableReads {
  readonly #queue: ReadQueue;
  /** By key, those that wait or run. */
  readonly #running = new Map<string, AbortController>();

  /** @param limit most reads at a time */
  constructor(limit: number) {
    this.#queue = new ReadQueue(limit);
  }

  /**
   * Runs a read when its turn comes.
   *
   * @param key names the read; no other of this key is under way
   * @param urgent it goes before those that are not
   * @throws the signal's reason once the read is canceled
   */
  async run<T>(key: string, urgent: boolean, read: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    const { signal } = controller;
    this.#running.set(key, controller);
    try {
      const result = await this.#queue.run(() => read(signal), { urgent, signal });
      signal.throwIfAborted();
      return result;
    } finally {
      if (this.#running.get(key) === controller) this.#running.delete(key);
    }
  }

  /** Cancels all reads but those of some keys. @returns the keys of the canceled ones */
  cancelAllBut(keys: ReadonlySet<string>): readonly string[] {
    const canceled = [...this.#running].filter(([key]) => !keys.has(key));
    for (const [key, controller] of canceled) {
      this.#running.delete(key);
      controller.abort();
    }
    return canceled.map(([key]) => key);
  }
}
