/** Runs a few reads at a time, urgent ones first, else in order of arrival. */
export class ReadQueue {
  readonly #limit: number;
  readonly #waiting: Ticket[] = [];
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Runs a read when its turn comes. An aborted one leaves the queue without being run.
   *
   * @throws the reason of `signal` when it is aborted before its turn
   */
  async run<T>(read: () => Promise<T>, { urgent, signal }: { urgent: boolean; signal: AbortSignal }): Promise<T> {
    signal.throwIfAborted();
    if (this.#running >= this.#limit) await this.#turn(urgent, signal);
    else this.#running++;
    try {
      return await read();
    } finally {
      this.#leave();
    }
  }

  #turn(urgent: boolean, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = () => {
      this.#waiting.splice(this.#waiting.indexOf(ticket), 1);
      reject(signal.reason);
    };
    const ticket: Ticket = {
      urgent,
      call() {
        signal.removeEventListener("abort", giveUp);
        resolve();
      },
    };
    signal.addEventListener("abort", giveUp, { once: true });
    const place = urgent ? this.#waiting.findIndex((other) => !other.urgent) : -1;
    this.#waiting.splice(place < 0 ? this.#waiting.length : place, 0, ticket);
    return promise;
  }

  /** The slot goes straight to the next one, so that no other read takes it. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next.call();
    else this.#running--;
  }
}

interface Ticket {
  readonly urgent: boolean;
  readonly call: () => void;
}

/** Reads a few files at a time, and can cancel those that are no longer needed. */
export class CancelableReads {
  readonly #queue: ReadQueue;
  /** Waiting and running reads by key. */
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
