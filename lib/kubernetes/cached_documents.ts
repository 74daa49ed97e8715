import { CountedCache } from "@/lib/std/caches.ts";

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
