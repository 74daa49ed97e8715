import { type Kinds, type KubeObject, type NewMeta, type Plural, timestamp } from "./objects.ts";

/** How many changes are remembered; a reader that asks for an older state must begin again (410). */
const MAX_REMEMBERED_CHANGES = 8192;
/** What is remembered keeps old versions of objects alive: about so many characters of them at most. */
const MAX_REMEMBERED_CHARACTERS = 32 * 1024 * 1024;

/**
 * How far versions leap when a state is taken over from an earlier process. What that process changed after the state was kept
 * is lost, and no version that it may have shown to a client must come to mean something else.
 */
const RESTORE_LEAP = 1_000_000;

/** One change, in the order of versions; `previous` is what it replaced, `object` is null when it was deleted. */
export interface Change {
  readonly version: number;
  readonly plural: Plural;
  readonly key: string;
  readonly object: KubeObject | null;
  readonly previous: KubeObject | null;
}

/** All a store holds, as plain JSON. */
export interface StoreSnapshot {
  readonly version: number;
  readonly uids: number;
  readonly objects: { readonly [K in Plural]: readonly Kinds[K][] };
}

/**
 * The objects of the embedded cluster, in memory. An object is never changed in place: a change stores a new one under the next
 * resource version, so lists stay what they were, and earlier states can be rebuilt from the remembered changes.
 */
export class ClusterStore {
  readonly #objects: { [K in Plural]: Map<string, Kinds[K]> } = {
    jobs: new Map(),
    pods: new Map(),
    configmaps: new Map(),
    namespaces: new Map(),
  };
  readonly #changes: Change[] = [];
  #remembered = 0;
  readonly #listeners = new Set<() => void>();
  #version = 1;
  #uids = 0;

  constructor(readonly now: () => number, readonly random: () => number) {}

  /** The version of the last change. */
  get version(): number {
    return this.#version;
  }

  get<K extends Plural>(plural: K, namespace: string, name: string): Kinds[K] | undefined {
    return this.#objects[plural].get(keyOf(namespace, name));
  }

  /** Objects of one kind, ordered by namespace and name; of all namespaces when none is given. */
  list<K extends Plural>(plural: K, namespace: string | null = null): Kinds[K][] {
    return sorted(this.#objects[plural], namespace);
  }

  /** Objects of one kind in no particular order, without the cost of sorting. */
  all<K extends Plural>(plural: K): Iterable<Kinds[K]> {
    return this.#objects[plural].values();
  }

  /** The list as it was at an earlier version; null when that version is no longer remembered, or not yet reached. */
  listAt<K extends Plural>(plural: K, namespace: string | null, version: number): Kinds[K][] | null {
    if (version === this.#version) return this.list(plural, namespace);
    const changes = this.changesSince(version);
    if (changes === null) return null;
    const then = new Map<string, Kinds[K]>(this.#objects[plural]);
    for (const change of changes.reverse()) {
      if (change.plural !== plural) continue;
      if (change.previous === null) then.delete(change.key);
      else then.set(change.key, change.previous as Kinds[K]);
    }
    return sorted(then, namespace);
  }

  /** What changed after a version, oldest first; null when that version is no longer remembered, or not yet reached. */
  changesSince(version: number): Change[] | null {
    const oldest = this.#changes[0]?.version ?? this.#version + 1;
    if (version > this.#version || version < oldest - 1) return null;
    // Every change has the version after the one before it.
    return this.#changes.slice(version - oldest + 1);
  }

  /** Calls `listener` after each change, until the answered function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Stores a new object with a uid, a version and the time of now. The caller has seen that the name is free. */
  create<K extends Plural>(plural: K, object: Omit<Kinds[K], "metadata"> & { metadata: NewMeta }): Kinds[K] {
    const metadata = {
      ...object.metadata,
      uid: this.#newUid(),
      resourceVersion: String(this.#version + 1),
      creationTimestamp: timestamp(this.now()),
    };
    const created = { ...object, metadata } as Kinds[K];
    this.#put(plural, created, null);
    return created;
  }

  /** Replaces an object that is there; its uid, name and creation stay. */
  replace<K extends Plural>(plural: K, object: Kinds[K]): Kinds[K] {
    const { namespace = "", name } = object.metadata;
    const current = this.get(plural, namespace, name);
    if (!current) throw new Error(`no ${plural} ${namespace}/${name} to replace`);
    const { uid, creationTimestamp } = current.metadata;
    const metadata = { ...object.metadata, uid, creationTimestamp, resourceVersion: String(this.#version + 1) };
    const replaced: Kinds[K] = { ...object, metadata };
    this.#put(plural, replaced, current);
    return replaced;
  }

  delete(plural: Plural, namespace: string, name: string): void {
    const key = keyOf(namespace, name);
    const previous = this.#objects[plural].get(key);
    if (!previous) return;
    this.#objects[plural].delete(key);
    this.#remember({ version: ++this.#version, plural, key, object: null, previous });
  }

  snapshot(): StoreSnapshot {
    const { jobs, pods, configmaps, namespaces } = this.#objects;
    return {
      version: this.#version,
      uids: this.#uids,
      objects: {
        jobs: [...jobs.values()],
        pods: [...pods.values()],
        configmaps: [...configmaps.values()],
        namespaces: [...namespaces.values()],
      },
    };
  }

  /** Takes over what a snapshot holds, at a version that was never shown; earlier versions are forgotten. */
  restore(snapshot: StoreSnapshot): void {
    this.#version = snapshot.version + RESTORE_LEAP;
    this.#uids = snapshot.uids;
    this.#changes.length = 0;
    this.#remembered = 0;
    const fill = <K extends Plural>(plural: K) => {
      this.#objects[plural].clear();
      for (const object of snapshot.objects[plural]) {
        this.#objects[plural].set(keyOf(object.metadata.namespace ?? "", object.metadata.name), object);
      }
    };
    fill("jobs");
    fill("pods");
    fill("configmaps");
    fill("namespaces");
  }

  #put<K extends Plural>(plural: K, object: Kinds[K], previous: Kinds[K] | null): void {
    const key = keyOf(object.metadata.namespace ?? "", object.metadata.name);
    this.#objects[plural].set(key, object);
    this.#remember({ version: ++this.#version, plural, key, object, previous });
  }

  #remember(change: Change): void {
    this.#changes.push(change);
    this.#remembered += sizeOf(change);
    while (this.#changes.length > MAX_REMEMBERED_CHANGES || this.#remembered > MAX_REMEMBERED_CHARACTERS) {
      // Dropping an eighth at a time keeps the cost of shifting the array away from each change.
      for (const forgotten of this.#changes.splice(0, Math.ceil(this.#changes.length / 8))) {
        this.#remembered -= sizeOf(forgotten);
      }
    }
    for (const listener of this.#listeners) listener();
  }

  #newUid(): string {
    const hex = (digits: number) =>
      Array.from({ length: digits }, () => Math.floor(this.random() * 16).toString(16)).join("");
    // The counter makes uids differ even for a poor generator.
    const count = (this.#uids++).toString(16).padStart(8, "0");
    return `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(4)}${count}`;
  }
}

/** Roughly how many characters a change keeps alive; what counts is the data of ConfigMaps. */
function sizeOf({ object, previous }: Change): number {
  const kept = previous ?? object;
  if (kept?.kind !== "ConfigMap") return TYPICAL_CHARACTERS;
  const values = [...Object.values(kept.data ?? {}), ...Object.values(kept.binaryData ?? {})];
  return TYPICAL_CHARACTERS + values.reduce((sum, value) => sum + value.length, 0);
}

const TYPICAL_CHARACTERS = 2048;

/** `namespace/name`; a slash sorts before every character of a name but `-` and `.`, so namespaces are compared apart. */
function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

function sorted<T extends KubeObject>(objects: ReadonlyMap<string, T>, namespace: string | null): T[] {
  const chosen = [...objects.values()].filter((object) =>
    namespace === null || (object.metadata.namespace ?? "") === namespace
  );
  return chosen.sort(byNamespaceAndName);
}

/** As much of an object as the order of lists looks at. */
export interface Named {
  readonly metadata: { readonly namespace?: string; readonly name: string };
}

/** The order of every list. */
export function byNamespaceAndName(a: Named, b: Named): number {
  return compare(a.metadata.namespace ?? "", b.metadata.namespace ?? "") || compare(a.metadata.name, b.metadata.name);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
