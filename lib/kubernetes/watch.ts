import { integerAt, member, parsedJson, stringAt } from "@/lib/std/untrusted.ts";
import { type Collection, listVersioned, selection } from "./cluster_reads.ts";
import { ClusterUnavailable, LineTooLong, type StreamingConnection } from "./connection.ts";

/** A change of one object. */
interface Change {
  readonly type: "put" | "removed";
  readonly object: unknown;
}

interface WatchRequest {
  readonly collection: Collection;
  /** The resource version after which changes are wanted. */
  readonly position: string;
  /** After which the server should end the watch, whole seconds. */
  readonly seconds: number;
  /** Idle timeout of the connection beyond that time, ms. */
  readonly idleMs: number;
  readonly signal: AbortSignal;
}

interface WatchReceiver {
  change(change: Change): void;
  /** Later changes can be followed from this version. */
  position(version: string): void;
}

/**
 * How a watch ended: after its time; because this account may not watch; because the server no longer has the
 * changes from the position on, or the next one cannot be read; or by any other failure, after which it can go on from its
 * position.
 */
type WatchEnd = "ended" | "forbidden" | "expired" | "failed";

const METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

/**
 * Follows a collection once (Kubernetes, "Efficient detection of changes"). A connection that is idle is
 * cancelled shortly after the server should have ended it. Never throws for what a server does.
 */
export async function watchOnce(
  connection: StreamingConnection,
  { collection, position, seconds, idleMs, signal }: WatchRequest,
  receiver: WatchReceiver,
): Promise<WatchEnd> {
  const query = selection(collection);
  query.set("watch", "1");
  query.set("allowWatchBookmarks", "true");
  query.set("timeoutSeconds", String(seconds));
  if (position !== "") query.set("resourceVersion", position);
  let early: WatchEnd | null = null;
  const limits = { idleMs: seconds * 1000 + idleMs, totalMs: seconds * 2000 + idleMs };
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
      limits,
      (line) => {
        if (early !== null) return;
        early = take(line, receiver);
        // Later lines may not follow the earlier ones.
        if (early !== null) stop.abort();
      },
    );
    return early ?? endOf(status);
  } catch (error) {
    if (!(error instanceof ClusterUnavailable)) throw error;
    // The same line would come again from the same position.
    return early ?? (error.cause instanceof LineTooLong ? "expired" : "failed");
  }
}

/** Null while the watch continues. */
function take(line: Uint8Array, receiver: WatchReceiver): WatchEnd | null {
  const event = parsedJson(line);
  if (event === undefined) return "failed";
  const object = member(event, "object");
  const type = stringAt(event, "type");
  if (type === "ERROR") return endOf(integerAt(object, "code"), "failed");
  if (type === "ADDED" || type === "MODIFIED") receiver.change({ type: "put", object });
  else if (type === "DELETED") receiver.change({ type: "removed", object });
  else if (type !== "BOOKMARK") return null;
  const version = stringAt(object, "metadata", "resourceVersion");
  if (version) receiver.position(version);
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
  /** Ends the following. */
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

/** How the following of a collection goes. */
export interface Followed {
  /** Resolves once all objects are known. */
  readonly listed: Promise<void>;
  /** Resolves when this account may not watch. */
  readonly forbidden: Promise<void>;
  /** When the objects were last known to be those of the cluster, ms since 1970; null before the first list. */
  readonly currentAt: number | null;
  /** Follows until the signal aborts. */
  run(): Promise<void>;
}

/**
 * Waits between attempts grow from the first to the second, ms; half of each is left to chance. After a long outage all
 * is current again once the last collection has had its turn, so the longest wait is what that takes.
 */
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 4_000;
/** Failed watches after which the collection is listed again. */
const FRUITLESS_WATCHES = 3;

/**
 * The objects of one namespaced collection, listed once and then followed. Watches end after a while and go on where
 * they were; where that is not possible the collection is listed again, and what stayed the same keeps its identity.
 */
export class FollowedCollection<T extends object> implements Followed {
  readonly #listed = Promise.withResolvers<void>();
  readonly #forbidden = Promise.withResolvers<void>();
  readonly listed = this.#listed.promise;
  readonly forbidden = this.#forbidden.promise;
  #objects = new Map<string, Entry<T>>();
  #names: readonly string[] | null = null;
  #values: readonly T[] | null = null;
  #position: string | null = null;
  #currentAt: number | null = null;
  #failures = 0;

  constructor(
    private readonly connection: StreamingConnection,
    private readonly kind: FollowedKind<T>,
    private readonly options: FollowOptions,
  ) {
  }

  get currentAt(): number | null {
    return this.#currentAt;
  }

  /** An object by its name. */
  get(name: string): T | undefined {
    return this.#objects.get(name)?.value;
  }

  /** The resource version of an object; undefined for one that is not there. */
  version(name: string): string | undefined {
    return this.#objects.get(name)?.version;
  }

  /** Everything by name, as a list gives it; the same array until something changes. */
  values(): readonly T[] {
    this.#names ??= [...this.#objects.keys()].sort();
    this.#values ??= this.#names.flatMap((name): T[] => {
      const value = this.get(name);
      return value ? [value] : [];
    });
    return this.#values;
  }

  async run(): Promise<void> {
    const { signal, sleep } = this.options;
    while (!signal.aborted) {
      const end = await this.#round();
      if (signal.aborted) return;
      if (end === "forbidden") this.#forbidden.resolve();
      if (end === "ended") continue;
      if (++this.#failures % FRUITLESS_WATCHES === 0 || end === "expired") this.#position = null;
      await sleep(this.#delay(), signal);
    }
  }

  async #round(): Promise<WatchEnd> {
    const { now, random, watchSeconds, idleMs, signal } = this.options;
    const position = this.#position ?? await this.#list();
    if (position === null || signal.aborted) return "failed";
    const startedAt = now();
    // All watches of a process, and all replicas, began at the same moment.
    const usual = watchSeconds * (0.85 + 0.3 * random());
    // After a broken watch the next one ends sooner, so that the data does not look too old.
    const seconds = Math.max(1, Math.round(this.#failures > 0 ? usual / 2 : usual));
    const proven = () => {
      this.#failures = 0;
      this.#currentAt = now();
    };
    const end = await watchOnce(this.connection, { collection: this.kind, position, seconds, idleMs, signal }, {
      change: (change) => this.#take(change),
      position: (version) => {
        this.#position = version;
        proven();
      },
    });
    if (end !== "ended") return end;
    // A watch that ends in time has brought all changes; one that ends at once may be of a server that is stopping.
    if (now() - startedAt < seconds * 500) return "failed";
    proven();
    return "ended";
  }

  /** The position from which to follow; null when the cluster cannot be read. */
  async #list(): Promise<string | null> {
    const { now, signal } = this.options;
    const startedAt = now();
    const before = this.#objects;
    try {
      const { found, version } = await listVersioned(
        this.connection,
        { ...this.kind, signal },
        (object) => this.#entry(object, before),
      );
      this.#replace(new Map(found));
      this.#currentAt = startedAt;
      this.#position = version;
      this.#listed.resolve();
      return version;
    } catch (error) {
      if (error instanceof ClusterUnavailable) return null;
      throw error;
    }
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

  #take({ type, object }: Change): void {
    const name = stringAt(object, "metadata", "name");
    if (!name) return;
    const before = this.#objects.get(name);
    const after = type === "put" ? this.#entry(object, this.#objects)?.[1] : undefined;
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

interface Entry<T> {
  readonly version: string;
  readonly uid: string;
  readonly value: T;
}
