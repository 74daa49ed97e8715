import { integerAt, member, parsedJson, stringAt } from "@/lib/std/untrusted.ts";
import { type Collection, listAll, selection } from "./cluster_reads.ts";
import { ClusterUnavailable, LineTooLong, type StreamingConnection } from "./connection.ts";

/**
 * How a watch ended: after its time; because this account may not watch; because the server no longer has the
 * changes since the version, or the next one cannot be read; or by any other failure, after which it can be continued.
 */
type WatchEnd = "ended" | "forbidden" | "expired" | "failed";

interface WatchRequest {
  /** The resource version after which changes are wanted. */
  readonly version: string;
  /** After which the server should end the watch, whole seconds. */
  readonly seconds: number;
  /** Idle timeout of the connection beyond that time, ms. */
  readonly idleMs: number;
  readonly signal: AbortSignal;
}

/** Takes an event; the object of a bookmark only names the resource version that was reached. */
type TakeEvent = (type: string, object: unknown) => void;

const EVENTS: readonly string[] = ["ADDED", "MODIFIED", "DELETED", "BOOKMARK"];
const METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

/**
 * Watches a collection once (Kubernetes, "Efficient detection of changes"). A connection that is idle is cancelled shortly
 * after the server should have ended it. Never throws for what a server does.
 */
export async function watchOnce(
  connection: StreamingConnection,
  collection: Collection,
  { version, seconds, idleMs, signal }: WatchRequest,
  onEvent: TakeEvent,
): Promise<WatchEnd> {
  const query = selection(collection);
  query.set("watch", "1");
  query.set("allowWatchBookmarks", "true");
  query.set("timeoutSeconds", String(seconds));
  if (version !== "") query.set("resourceVersion", version);
  let early: WatchEnd | null = null;
  const stop = new AbortController();
  try {
    const status = await connection.stream(
      {
        method: "GET",
        path: collection.path,
        query,
        headers: collection.metadataOnly ? { Accept: METADATA } : {},
        signal: AbortSignal.any([signal, stop.signal]),
      },
      { idleMs: seconds * 1000 + idleMs, totalMs: seconds * 2000 + idleMs },
      (line) => {
        if (early !== null) return;
        early = take(line, onEvent);
        // Later lines may not follow the earlier ones.
        if (early !== null) stop.abort();
      },
    );
    return early ?? endOf(status);
  } catch (error) {
    if (!(error instanceof ClusterUnavailable)) throw error;
    // The server would send the same line again for the same version.
    return early ?? (error.cause instanceof LineTooLong ? "expired" : "failed");
  }
}

/** Null while the watch continues. */
function take(line: Uint8Array, onEvent: TakeEvent): WatchEnd | null {
  const event = parsedJson(line);
  if (event === undefined) return "failed";
  const object = member(event, "object");
  const type = stringAt(event, "type") ?? "";
  if (type === "ERROR") return endOf(integerAt(object, "code"), "failed");
  if (EVENTS.includes(type)) onEvent(type, object);
  return null;
}

function endOf(status: number, otherwise: WatchEnd = status === 200 ? "ended" : "failed"): WatchEnd {
  if (status === 410) return "expired";
  // A server without watches returns 405.
  return status === 403 || status === 405 ? "forbidden" : otherwise;
}

export interface FollowOptions {
  /** ms since 1970 */
  readonly now: () => number;
  /** 0 up to 1. */
  readonly random: () => number;
  /** Waits so many ms, less when the signal aborts. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** Ends all requests. */
  readonly signal: AbortSignal;
  /** Duration of one watch, seconds. */
  readonly watchSeconds: number;
  /** How long after that time a connection may still be idle, ms. */
  readonly idleMs: number;
}

export interface FollowedKind<T> extends Collection {
  /** Objects of one page of a list. */
  readonly pageSize: number;
  /** The part of an object that is stored; null leaves it out. */
  readonly trim: (object: unknown) => T | null;
  /** Called for every object that is added, changed or removed. */
  readonly changed: (before: T | undefined, after: T | undefined) => void;
}

/** Duration of the watch that finds out whether watching is allowed, seconds. */
const TRIAL_SECONDS = 1;
/**
 * Waits between attempts grow from the first to the second, ms; half of each is random. After a long outage all data is
 * current again after the longest wait.
 */
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 4_000;
/** Failed watches after which the collection is listed again. */
const FRUITLESS_WATCHES = 3;

/**
 * The objects of one namespaced collection, watched or listed on request. Each watch ends after a while and the next one
 * continues at its version; where that is not possible the collection is listed again. Unchanged objects keep their identity.
 */
export class FollowedCollection<T extends object> {
  /** When the objects were last known to be those of the cluster, ms since 1970; null before the first list. */
  currentAt: number | null = null;
  readonly #listed = Promise.withResolvers<void>();
  /** Resolves once all objects are known. */
  readonly listed = this.#listed.promise;
  #listing: Promise<string> | null = null;
  #objects = new Map<string, Entry<T>>();
  #names: readonly string[] | null = null;
  #values: readonly T[] | null = null;
  /** The resource version from which to watch; null: the collection has to be listed first. */
  #version: string | null = null;
  #failures = 0;

  constructor(
    private readonly connection: StreamingConnection,
    private readonly kind: FollowedKind<T>,
    private readonly options: FollowOptions,
  ) {
  }

  /** An object by its name. */
  get(name: string): T | undefined {
    return this.#objects.get(name)?.value;
  }

  /** The resource version of an object; undefined for one that is not there. */
  version(name: string): string | undefined {
    return this.#objects.get(name)?.version;
  }

  /** All objects in the order of their names, as a list returns them; the same array until one changes. */
  values(): readonly T[] {
    this.#names ??= [...this.#objects.keys()].sort();
    this.#values ??= this.#names.flatMap((name) => this.get(name) ?? []);
    return this.#values;
  }

  /** Watches until the signal aborts or the account may not watch. */
  async follow(signal: AbortSignal): Promise<void> {
    // A list that ended during a watch would discard later changes.
    await this.#listing?.catch(nullIfUnavailable);
    while (!signal.aborted) {
      const end = await this.#round(signal);
      if (signal.aborted || end === "forbidden") return;
      if (end === "ended") continue;
      if (++this.#failures % FRUITLESS_WATCHES === 0 || end === "expired") this.#version = null;
      await this.options.sleep(this.#delay(), signal);
    }
  }

  /**
   * Lists the collection unless that was done less than `lifetimeMs` ago. Not to be called during {@link follow}.
   *
   * @throws {ClusterUnavailable}
   */
  async refresh(lifetimeMs: number): Promise<void> {
    const isFresh = this.currentAt !== null && this.options.now() - this.currentAt <= lifetimeMs;
    if (!isFresh) await this.#list();
  }

  /**
   * Whether the account may watch the collection, found out by a short watch: an access review need not show rules from
   * outside of the cluster. False when the cluster does not respond.
   */
  async mayWatch(): Promise<boolean> {
    const { signal, idleMs } = this.options;
    const version = await this.#list().catch(nullIfUnavailable);
    if (version === null) return false;
    const request = { version, seconds: TRIAL_SECONDS, idleMs, signal };
    return await watchOnce(this.connection, this.kind, request, () => {}) === "ended";
  }

  async #round(signal: AbortSignal): Promise<WatchEnd> {
    const { now, random, watchSeconds, idleMs } = this.options;
    const version = this.#version ?? await this.#list().catch(nullIfUnavailable);
    if (version === null || signal.aborted) return "failed";
    const startedAt = now();
    // All watches of a process, and all replicas, began at the same moment.
    const usual = watchSeconds * (0.85 + 0.3 * random());
    // After a broken watch the next one ends sooner, so that the data does not look too old.
    const seconds = Math.max(1, Math.round(this.#failures > 0 ? usual / 2 : usual));
    const request = { version, seconds, idleMs, signal };
    const end = await watchOnce(this.connection, this.kind, request, (type, object) => {
      if (type !== "BOOKMARK") this.#change(object, type === "DELETED");
      const reached = stringAt(object, "metadata", "resourceVersion");
      if (!reached) return;
      this.#version = reached;
      this.#proven();
    });
    if (end !== "ended") return end;
    // A watch that ends in time has brought all changes; one that ends at once may be of a server that is stopping.
    if (now() - startedAt < seconds * 500) return "failed";
    this.#proven();
    return "ended";
  }

  #proven(): void {
    this.#failures = 0;
    this.currentAt = this.options.now();
  }

  /** Lists the collection; concurrent calls share one list. @throws {ClusterUnavailable} */
  #list(): Promise<string> {
    return this.#listing ??= this.#listNow().finally(() => this.#listing = null);
  }

  async #listNow(): Promise<string> {
    const { now, signal } = this.options;
    const startedAt = now();
    const before = this.#objects;
    const request = { ...this.kind, signal };
    const { found, version } = await listAll(this.connection, request, (object) => this.#entry(object, before));
    this.#replace(new Map(found));
    this.currentAt = startedAt;
    this.#version = version;
    this.#listed.resolve();
    return version;
  }

  #entry(object: unknown, before: ReadonlyMap<string, Entry<T>>): [string, Entry<T>] | null {
    const name = stringAt(object, "metadata", "name");
    if (!name) return null;
    const uid = stringAt(object, "metadata", "uid") ?? "";
    const version = stringAt(object, "metadata", "resourceVersion") ?? "";
    const known = before.get(name);
    if (known && version !== "" && known.version === version && known.uid === uid) return [name, known];
    const value = this.kind.trim(object);
    return value === null ? null : [name, { version, uid, value }];
  }

  #replace(objects: Map<string, Entry<T>>): void {
    const before = this.#objects;
    this.#objects = objects;
    this.#names = this.#values = null;
    for (const [name, { value }] of objects) {
      const old = before.get(name)?.value;
      if (old !== value) this.kind.changed(old, value);
    }
    for (const [name, { value }] of before) {
      if (!objects.has(name)) this.kind.changed(value, undefined);
    }
  }

  #change(object: unknown, isDeleted: boolean): void {
    const name = stringAt(object, "metadata", "name");
    if (!name) return;
    const before = this.#objects.get(name);
    const after = isDeleted ? undefined : this.#entry(object, this.#objects)?.[1];
    if (before === after) return;
    if (after) this.#objects.set(name, after);
    else this.#objects.delete(name);
    if (!before !== !after) this.#names = null;
    this.#values = null;
    this.kind.changed(before?.value, after?.value);
  }

  #delay(): number {
    const longest = Math.min(LONGEST_RETRY_MS, FIRST_RETRY_MS * 2 ** Math.min(this.#failures - 1, 16));
    return longest * (0.5 + this.options.random() / 2);
  }
}

function nullIfUnavailable(error: unknown): null {
  if (error instanceof ClusterUnavailable) return null;
  throw error;
}

interface Entry<T> {
  readonly version: string;
  readonly uid: string;
  readonly value: T;
}
