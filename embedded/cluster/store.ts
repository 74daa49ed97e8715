import { compareText } from "@/lib/std/text.ts";
import { type Kinds, type KubeObject, type NewMeta, type Plural, timestamp } from "./kube_objects.ts";

/** Stored changes; a client that needs an older one gets 410 and lists again. */
const MAX_STORED_CHANGES = 8192;
/** Approximate limit of the old objects that stored changes refer to, characters. */
const MAX_STORED_CHARACTERS = 32 * 1024 * 1024;

/**
 * The increment of versions when the state of an earlier process is restored. Its changes after the snapshot are lost, and
 * a version that a client may have seen must not be used again.
 */
const RESTORE_LEAP = 1_000_000;

/** One change, in the order of versions; `previous` is what it replaced, `object` is null when it was deleted. */
export interface Change {
  readonly version: number;
  readonly plural: Plural;
  readonly object: KubeObject | null;
  readonly previous: KubeObject | null;
}

/** The content of a store, as plain JSON. */
export interface StoreSnapshot {
  readonly version: number;
  readonly uids: number;
  readonly objects: { readonly [K in Plural]: readonly Kinds[K][] };
}

/**
 * The objects of the embedded cluster, in memory. Objects are immutable: a change stores a new one under the next resource
 * version, so earlier lists stay valid.
 */
export class ClusterStore {
  readonly #objects: { [K in Plural]: Map<string, Kinds[K]> } = {
    jobs: new Map(),
    pods: new Map(),
    configmaps: new Map(),
    namespaces: new Map(),
  };
  readonly #changes: Change[] = [];
  #storedCharacters = 0;
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
    return [...this.all(plural)].filter((object) =>
      namespace === null || (object.metadata.namespace ?? "") === namespace
    ).sort(byNamespaceAndName);
  }

  /** Objects of one kind in no particular order, without the cost of sorting. */
  all<K extends Plural>(plural: K): Iterable<Kinds[K]> {
    return this.#objects[plural].values();
  }

  /** The changes after a version, oldest first; null when that version is no longer stored, or not yet reached. */
  changesSince(version: number): Change[] | null {
    const oldest = this.#changes[0]?.version ?? this.#version + 1;
    if (version > this.#version || version < oldest - 1) return null;
    // Changes have consecutive versions.
    return this.#changes.slice(version - oldest + 1);
  }

  /** Calls `listener` after each change, until the returned function is called. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Stores a new object with a uid, a version and the current time. The caller has checked that the name is free. */
  create<K extends Plural>(plural: K, object: Omit<Kinds[K], "metadata"> & { metadata: NewMeta }): Kinds[K] {
    const metadata = { ...object.metadata, uid: this.#newUid(), creationTimestamp: timestamp(this.now()) };
    const stored: object = { ...object, metadata };
    return this.put(plural, stored as Kinds[K]);
  }

  /** Replaces an existing object; its uid, name and creation time stay. */
  replace<K extends Plural>(plural: K, object: Kinds[K]): Kinds[K] {
    const { namespace = "", name } = object.metadata;
    const current = this.get(plural, namespace, name);
    if (!current) throw new Error(`no ${plural} ${namespace}/${name} to replace`);
    const { uid, creationTimestamp } = current.metadata;
    return this.put(plural, { ...object, metadata: { ...object.metadata, uid, creationTimestamp } });
  }

  /** Stores an object as it is, under the next version, in the place of one with the same name. */
  put<K extends Plural>(plural: K, object: Kinds[K]): Kinds[K] {
    const version = ++this.#version;
    const stored: Kinds[K] = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    const key = keyOf(object.metadata.namespace ?? "", object.metadata.name);
    const previous = this.#objects[plural].get(key) ?? null;
    this.#objects[plural].set(key, stored);
    this.#record({ version, plural, object: stored, previous });
    return stored;
  }

  delete(plural: Plural, namespace: string, name: string): void {
    const key = keyOf(namespace, name);
    const previous = this.#objects[plural].get(key);
    if (!previous) return;
    this.#objects[plural].delete(key);
    this.#record({ version: ++this.#version, plural, object: null, previous });
  }

  /** Deletes an object and the pods that it owns. */
  deleteWithPods(plural: Plural, { metadata: { namespace = "", name, uid } }: KubeObject): void {
    this.delete(plural, namespace, name);
    for (const { metadata } of this.list("pods", namespace)) {
      if (metadata.ownerReferences?.some((owner) => owner.uid === uid)) this.delete("pods", namespace, metadata.name);
    }
  }

  snapshot(): StoreSnapshot {
    return {
      version: this.#version,
      uids: this.#uids,
      objects: {
        jobs: [...this.all("jobs")],
        pods: [...this.all("pods")],
        configmaps: [...this.all("configmaps")],
        namespaces: [...this.all("namespaces")],
      },
    };
  }

  /** Restores a snapshot at a version that was never used; earlier versions are dropped. */
  restore({ version, uids, objects }: StoreSnapshot): void {
    this.#version = version + RESTORE_LEAP;
    this.#uids = uids;
    this.#changes.length = 0;
    this.#storedCharacters = 0;
    for (const plural of ["jobs", "pods", "configmaps", "namespaces"] as const) this.#fill(plural, objects[plural]);
  }

  #fill<K extends Plural>(plural: K, objects: readonly Kinds[K][]): void {
    this.#objects[plural].clear();
    for (const object of objects) {
      this.#objects[plural].set(keyOf(object.metadata.namespace ?? "", object.metadata.name), object);
    }
  }

  #record(change: Change): void {
    this.#changes.push(change);
    this.#storedCharacters += sizeOf(change);
    while (this.#changes.length > MAX_STORED_CHANGES || this.#storedCharacters > MAX_STORED_CHARACTERS) {
      // An eighth at a time, so that not every change shifts the array.
      for (const dropped of this.#changes.splice(0, Math.ceil(this.#changes.length / 8))) {
        this.#storedCharacters -= sizeOf(dropped);
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

/** Approximate characters of a change; the data of ConfigMaps dominates. */
function sizeOf({ object, previous }: Change): number {
  const retained = previous ?? object;
  if (retained?.kind !== "ConfigMap") return TYPICAL_CHARACTERS;
  const values = Object.values(retained.data ?? {});
  return TYPICAL_CHARACTERS + values.reduce((sum, value) => sum + value.length, 0);
}

const TYPICAL_CHARACTERS = 2048;

/** `namespace/name`; a slash sorts before every character of a name but `-` and `.`, so namespaces are compared apart. */
function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** The parts of an object by which lists are ordered. */
export interface Named {
  readonly metadata: { readonly namespace?: string; readonly name: string };
}

/** The order of every list. */
export function byNamespaceAndName(a: Named, b: Named): number {
  const [one, other] = [a.metadata, b.metadata];
  return compareText(one.namespace ?? "", other.namespace ?? "") || compareText(one.name, other.name);
}
