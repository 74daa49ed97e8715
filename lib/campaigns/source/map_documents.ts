import { getConfigMap } from "@/lib/kubernetes/cluster_reads.ts";
import type { ClusterConnection } from "@/lib/kubernetes/connection.ts";
import { CountedCache } from "@/lib/std/caches.ts";

interface MapDocumentsOptions<T> {
  readonly connection: ClusterConnection;
  /** ms since 1970 */
  readonly now: () => number;
  /** Cache budget, bytes. */
  readonly documentBytes: number;
  /** Reads a document of a ConfigMap; null: the map is gone. */
  readonly parse: (map: unknown) => T;
  /** Memory that a document takes, bytes. */
  readonly sizeOf: (document: T) => number;
}

/** How long the document of a map of unknown version is reused, ms. */
const UNVERSIONED_MS = 2_000;
/** Memory of an entry beside its document, bytes. */
const ENTRY_BYTES = 256;

/**
 * The documents of one kind in ConfigMaps, read on demand and cached by resource version within a budget: the least recently
 * used are evicted first. Concurrent reads of the same version share one.
 */
export class MapDocuments<T> {
  readonly #cache: CountedCache<string, { readonly version: string; readonly document: T }>;
  readonly #reading = new Map<string, Promise<T>>();

  /** @param name as of a {@link CountedCache} */
  constructor(name: string, private readonly options: MapDocumentsOptions<T>) {
    this.#cache = new CountedCache(name, { maxSize: options.documentBytes });
  }

  /** Bytes that are cached. */
  get size(): number {
    return this.#cache.calculatedSize;
  }

  /**
   * The document of a map. What is read counts as the given version, though it may be a later one: the next event corrects
   * that. Errors are not cached.
   *
   * @param version undefined where it is not known
   * @throws {ClusterUnavailable}
   */
  read(namespace: string, name: string, version: string | undefined): Promise<T> {
    const key = `${namespace}/${name}`;
    const wanted = version || `at ${Math.floor(this.options.now() / UNVERSIONED_MS)}`;
    const cached = this.#cache.getFitting(key, (entry) => entry.version === wanted);
    if (cached) return Promise.resolve(cached.document);
    const readingKey = `${key}@${wanted}`;
    const underWay = this.#reading.get(readingKey);
    if (underWay) return underWay;
    const reading = this.#readNow(namespace, name, wanted).finally(() => this.#reading.delete(readingKey));
    this.#reading.set(readingKey, reading);
    return reading;
  }

  /** Caches a document that came with an event, unless it exceeds the whole budget. */
  put(namespace: string, name: string, version: string, document: T): void {
    const size = this.options.sizeOf(document) + ENTRY_BYTES;
    this.#cache.set(`${namespace}/${name}`, { version, document }, { size });
  }

  async #readNow(namespace: string, name: string, version: string): Promise<T> {
    const document = this.options.parse(await getConfigMap(this.options.connection, namespace, name));
    this.put(namespace, name, version, document);
    return document;
  }
}
