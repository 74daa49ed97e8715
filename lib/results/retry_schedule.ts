/** From a failed write to the next attempt, ms: doubled each time, up to MAX_RETRY_MS. */
export const RETRY_MS = 1000;
export const MAX_RETRY_MS = 60_000;

interface RetryOptions {
  /** Attempts the write again; it reports to the schedule how that went. */
  readonly again: () => void;
  /** Called once when writes begin to fail. */
  readonly onFailure: (error: unknown) => void;
  /** Called once when they succeed again. */
  readonly onRecovery: () => void;
  /** Calls `run` after so many ms, unless the process ends before. */
  readonly later: (run: () => void, ms: number) => void;
}

/** When a failed write is attempted again, unless it succeeds before for another reason. */
export class RetrySchedule {
  readonly #options: RetryOptions;
  /** The next attempt; null: everything is written. */
  #next: { readonly ms: number; isDue: boolean } | null = null;

  constructor(options: RetryOptions) {
    this.#options = options;
  }

  /** Whether something is not written yet. */
  get isPending(): boolean {
    return this.#next !== null;
  }

  failed(error: unknown): void {
    const last = this.#next;
    if (last && !last.isDue) return;
    if (!last) this.#options.onFailure(error);
    const next = { ms: last ? Math.min(2 * last.ms, MAX_RETRY_MS) : RETRY_MS, isDue: false };
    this.#next = next;
    this.#options.later(() => {
      // Already written; a later failure has a timer of its own.
      if (this.#next !== next || next.isDue) return;
      next.isDue = true;
      this.#options.again();
    }, next.ms);
  }

  succeeded(): void {
    if (!this.#next) return;
    this.#next = null;
    this.#options.onRecovery();
  }
}
