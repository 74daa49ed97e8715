import { CountedCache } from "./counted_cache.ts";

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
  return new CountedCache(name, {
    max,
    // To lru-cache an entry of exactly this age is still fresh.
    ttl: ttlMs - 1,
    // With a resolution it would store the time and start a timer for each reading of the clock.
    ttlResolution: 0,
    perf: { now },
  });
}
