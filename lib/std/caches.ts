import { LRUCache } from "lru-cache";

/** Combined figures of all caches of one name. */
interface CacheFigures {
  readonly name: string;
  /** Look-ups that found an entry, since the start. */
  readonly hits: number;
  readonly misses: number;
  /** The unit of the limit. */
  readonly unit: "entries" | "bytes";
  readonly size: number;
  readonly max: number;
}

// deno-lint-ignore no-explicit-any -- what a cache holds does not matter here
type AnyCache = CountedCache<any, any>;

/** The caches of this process by name. Weak references, so that unused caches are collected. */
const caches = new Map<string, Set<WeakRef<AnyCache>>>();

/** An LRU cache whose look-ups by `get` are counted. Caches of the same name count together. */
export class CountedCache<K extends string, V extends NonNullable<unknown>> extends LRUCache<K, V> {
  hits = 0;
  misses = 0;

  /** @param name a constant: it becomes a label of metrics */
  constructor(name: string, options: LRUCache.Options<K, V, unknown>) {
    super(options);
    let named = caches.get(name);
    if (!named) caches.set(name, named = new Set());
    named.add(new WeakRef(this));
  }

  override get(key: K, options?: LRUCache.GetOptions<K, V, unknown>): V | undefined {
    const value = super.get(key, options);
    if (value === undefined) this.misses++;
    else this.hits++;
    return value;
  }

  /** Like {@link get}; an entry that does not fit counts as a miss, since its value is then read or computed again. */
  getFitting(key: K, fits: (value: V) => boolean): V | undefined {
    const value = this.peek(key);
    if (value !== undefined && fits(value)) return this.get(key);
    this.misses++;
    return undefined;
  }
}

/** The figures of all caches of this process. */
export function cacheFigures(): CacheFigures[] {
  const all: CacheFigures[] = [];
  for (const [name, references] of caches) {
    let hits = 0;
    let misses = 0;
    let size = 0;
    let max = 0;
    let unit: CacheFigures["unit"] = "entries";
    for (const reference of references) {
      const cache = reference.deref();
      if (!cache) {
        references.delete(reference);
        continue;
      }
      const limitsBytes = cache.maxSize > 0;
      if (limitsBytes) unit = "bytes";
      hits += cache.hits;
      misses += cache.misses;
      size += limitsBytes ? cache.calculatedSize : cache.size;
      max += limitsBytes ? cache.maxSize : cache.max;
    }
    if (max > 0) all.push({ name, hits, misses, unit, size, max });
  }
  return all;
}

/** Fewest entries added between two purges. */
const MIN_ADDED = 64;

/** Purges expired entries each time it has grown by its size, since entries that are not looked up would stay. */
class TimedCache<K extends string, V extends NonNullable<unknown>> extends CountedCache<K, V> {
  #untilPurge = MIN_ADDED;

  override set(...entry: Parameters<CountedCache<K, V>["set"]>): this {
    if (--this.#untilPurge < 0) {
      this.purgeStale();
      // The number of entries left: a purge checks all, so adding one costs two checks on average.
      this.#untilPurge = Math.max(MIN_ADDED, this.size);
    }
    return super.set(...entry);
  }
}

/**
 * A cache of at most `max` entries that evicts the least recently used one. An entry expires `ttlMs` after it was set.
 *
 * @param name as of a {@link CountedCache}
 * @param ttlMs at least 2, whole milliseconds
 * @param now ms since 1970 in whole milliseconds; never 0, which `lru-cache` reads as "without a time"
 */
export function timedCache<K extends string, V extends NonNullable<unknown>>(
  name: string,
  max: number,
  ttlMs: number,
  now: () => number,
): CountedCache<K, V> {
  return new TimedCache(name, {
    max,
    // To lru-cache an entry of exactly this age is still fresh.
    ttl: ttlMs - 1,
    // With a resolution it would cache the time and start a timer for each reading of the clock.
    ttlResolution: 0,
    perf: { now },
  });
}

/**
 * Lets concurrent readers of the same thing share one read, and later ones its result until it is `lifetimeMs` old,
 * counted from the start of the read. At most `capacity` results are cached, the oldest are evicted first. Errors are
 * not cached.
 */
export class SharedReads<T> {
  readonly #entries = new Map<string, Entry<T>>();

  /** @param now ms since 1970 */
  constructor(
    private readonly lifetimeMs: number,
    private readonly now: () => number,
    private readonly capacity: number,
  ) {
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
    const entry: Entry<T> = { startedAt: this.now(), value: work(), isDone: false };
    this.#entries.set(name, entry);
    entry.value.then(() => entry.isDone = true, () => this.#entries.delete(name));
    return entry.value;
  }

  forget(name: string): void {
    this.#entries.delete(name);
  }

  #evict(): void {
    const oldest = this.now() - this.lifetimeMs;
    for (const [name, { isDone, startedAt }] of this.#entries) {
      if (isDone && (startedAt < oldest || this.#entries.size > this.capacity)) this.#entries.delete(name);
    }
  }
}

interface Entry<T> {
  readonly value: Promise<T>;
  /** ms since 1970 */
  readonly startedAt: number;
  isDone: boolean;
}
