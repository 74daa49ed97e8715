import { LRUCache } from "lru-cache";

/** How the caches of one name are used together. */
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

/** The caches of this process by name. They are referred to weakly, so a cache ends with what uses it. */
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

  /** As {@link get}; an entry that does not fit counts as a miss, since its value is then read or computed again. */
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

/** Entries added at least before expired ones are looked for. */
const MIN_ADDED = 64;

/** Removes what has expired each time as many entries were added as it then had, since what is not looked up again would stay. */
class TimedCache<K extends string, V extends NonNullable<unknown>> extends CountedCache<K, V> {
  #untilPurge = MIN_ADDED;

  override set(...entry: Parameters<CountedCache<K, V>["set"]>): this {
    if (--this.#untilPurge < 0) {
      this.purgeStale();
      // As many as are left: a purge looks at all, so adding one costs two looks on average.
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
    // With a resolution it would store the time and start a timer for each reading of the clock.
    ttlResolution: 0,
    perf: { now },
  });
}
