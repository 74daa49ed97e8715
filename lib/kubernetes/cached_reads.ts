import { CountedCache } from "@/lib/std/caches.ts";

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

/** A document and the memory it takes, bytes. */
export interface SizedDocument<T> {
  readonly value: T;
  readonly size: number;
}

/**
 * Documents read from ConfigMaps, cached by resource version within a budget of bytes: the least recently used are
 * evicted first. Concurrent reads of the same version share one.
 */
export class CachedDocuments<T> {
  readonly #cache: CountedCache<string, { readonly version: string; readonly value: T }>;
  readonly #reading = new Map<string, Promise<T>>();

  /**
   * @param name as of a {@link CountedCache}
   * @param budget bytes
   */
  constructor(name: string, budget: number) {
    this.#cache = new CountedCache(name, { maxSize: budget });
  }

  /** Bytes that are cached. */
  get size(): number {
    return this.#cache.calculatedSize;
  }

  /**
   * The document of a name in a version, from the cache or by `read`. What `read` returns counts as that version, though
   * it may be a later one: the next event corrects that. Errors are not cached.
   */
  read(name: string, version: string, read: () => Promise<SizedDocument<T>>): Promise<T> {
    const cached = this.#cache.getFitting(name, (entry) => entry.version === version);
    if (cached) return Promise.resolve(cached.value);
    const key = `${name}@${version}`;
    const underWay = this.#reading.get(key);
    if (underWay) return underWay;
    const reading = this.#readNow(name, version, read).finally(() => this.#reading.delete(key));
    this.#reading.set(key, reading);
    return reading;
  }

  async #readNow(name: string, version: string, read: () => Promise<SizedDocument<T>>): Promise<T> {
    const document = await read();
    this.put(name, version, document);
    return document.value;
  }

  /** Caches a document that came with an event, unless it exceeds the whole budget. */
  put(name: string, version: string, { value, size }: SizedDocument<T>): void {
    // The cache takes no entry without a size.
    this.#cache.set(name, { version, value }, { size: Math.max(1, size) });
  }
}
