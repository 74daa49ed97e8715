import { CountedCache } from "./counted_cache.ts";

/** As many entries are added at least before expired ones are looked for. */
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
