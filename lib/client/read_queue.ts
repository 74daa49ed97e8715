/** Runs a few reads at a time, in the order they came; those that the reader requested go first. */
export class ReadQueue {
  readonly #limit: number;
  readonly #waiting: Ticket[] = [];
  #running = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Runs a read when its turn comes. An aborted one gives up its place without being run.
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
