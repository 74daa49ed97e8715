/**
 * Lets concurrent readers of the same thing share one read, and later ones its result until it is `lifetimeMs` old,
 * counted from the moment the read began. At most `capacity` results are kept, the oldest go first. A failure is handed to
 * those who waited for it and not kept.
 */
export class SharedReads<T> {
  readonly #kept = new Map<string, Kept<T>>();
  readonly #lifetimeMs: number;
  readonly #now: () => number;
  readonly #capacity: number;

  /** @param now ms since 1970 */
  constructor(lifetimeMs: number, now: () => number, capacity: number) {
    this.#lifetimeMs = lifetimeMs;
    this.#now = now;
    this.#capacity = capacity;
  }

  /** Reads under way, and results that are kept. */
  get size(): number {
    return this.#kept.size;
  }

  /** The value of `name`, read by `work` unless a fresh one is there. */
  read(name: string, work: () => Promise<T>): Promise<T> {
    this.#dropOld();
    const kept = this.#kept.get(name);
    if (kept) return kept.value;
    const entry: Kept<T> = { startedAt: this.#now(), value: work(), isDone: false };
    this.#kept.set(name, entry);
    entry.value.then(() => entry.isDone = true, () => this.#kept.delete(name));
    return entry.value;
  }

  #dropOld(): void {
    const oldest = this.#now() - this.#lifetimeMs;
    for (const [name, { isDone, startedAt }] of this.#kept) {
      if (isDone && (startedAt < oldest || this.#kept.size > this.#capacity)) this.#kept.delete(name);
    }
  }
}

interface Kept<T> {
  readonly value: Promise<T>;
  /** ms since 1970 */
  readonly startedAt: number;
  isDone: boolean;
}
