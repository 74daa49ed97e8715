/**
 * Lets concurrent readers of the same thing share one read, and later ones its result until it is `lifetimeMs` old,
 * counted from the beginning of the read. At most `capacity` results are cached, the oldest are evicted first. Errors are
 * not cached.
 */
export class SharedReads<T> {
  readonly #entries = new Map<string, Entry<T>>();
  readonly #lifetimeMs: number;
  readonly #now: () => number;
  readonly #capacity: number;

  /** @param now ms since 1970 */
  constructor(lifetimeMs: number, now: () => number, capacity: number) {
    this.#lifetimeMs = lifetimeMs;
    this.#now = now;
    this.#capacity = capacity;
  }

  /** Reads under way and cached results. */
  get size(): number {
    return this.#entries.size;
  }

  /** The value of `name`, read by `work` unless a fresh one is there. */
  read(name: string, work: () => Promise<T>): Promise<T> {
    this.#evict();
    const cached = this.#entries.get(name);
    if (cached) return cached.value;
    const entry: Entry<T> = { startedAt: this.#now(), value: work(), isDone: false };
    this.#entries.set(name, entry);
    entry.value.then(() => entry.isDone = true, () => this.#entries.delete(name));
    return entry.value;
  }

  #evict(): void {
    const oldest = this.#now() - this.#lifetimeMs;
    for (const [name, { isDone, startedAt }] of this.#entries) {
      if (isDone && (startedAt < oldest || this.#entries.size > this.#capacity)) this.#entries.delete(name);
    }
  }
}

interface Entry<T> {
  readonly value: Promise<T>;
  /** ms since 1970 */
  readonly startedAt: number;
  isDone: boolean;
}
