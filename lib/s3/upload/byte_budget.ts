/** Thrown by {@link ByteBudget.take} when nothing became free in time. */
export class BudgetExhausted extends Error {
  override readonly name = "BudgetExhausted";
}

/** Memory that many may use a share of: who asks for more than is left waits, in order. */
export class ByteBudget {
  #free: number;
  readonly #waiting: { readonly bytes: number; readonly go: () => void }[] = [];

  constructor(totalBytes: number) {
    this.#free = totalBytes;
  }

  /** Bytes that nobody has taken. */
  get free(): number {
    return this.#free;
  }

  /**
   * Takes a share; answers how to give it back, which counts once.
   *
   * @param bytes at most the whole budget
   * @throws BudgetExhausted after `patienceMs`; the reason of `signal` when it aborts
   */
  async take(bytes: number, patienceMs: number, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#waiting.length > 0 || bytes > this.#free) await this.#turn(bytes, patienceMs, signal);
    else this.#free -= bytes;
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#free += bytes;
      this.#serve();
    };
  }

  #turn(bytes: number, patienceMs: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (error: unknown) => {
        const place = this.#waiting.indexOf(entry);
        if (place < 0) return;
        this.#waiting.splice(place, 1);
        settle();
        reject(error);
        // Whoever came behind may want less.
        this.#serve();
      };
      const onAbort = () => leave(signal?.reason);
      const timer = setTimeout(() => leave(new BudgetExhausted("no memory became free")), patienceMs);
      const settle = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", onAbort);
      };
      const entry = {
        bytes,
        go() {
          settle();
          resolve();
        },
      };
      signal?.addEventListener("abort", onAbort, { once: true });
      this.#waiting.push(entry);
    });
  }

  #serve(): void {
    while (this.#waiting.length > 0 && this.#waiting[0].bytes <= this.#free) {
      const next = this.#waiting.shift();
      if (!next) return;
      this.#free -= next.bytes;
      next.go();
    }
  }
}
