/** Who put something into a {@link FairQueue}. */
export interface Client {
  /** The address that it comes from. */
  readonly address: string;
  /** Which of the connections from that address. */
  readonly connection: string;
}

/** Entries of one connection, the oldest first, and of one address, the connection whose turn is next first. */
type ByConnection<T> = Map<string, T[]>;

/**
 * A bounded queue in which clients take turns: first addresses, then the connections of an address. A full queue drops
 * the newest entry of the client that has the most, so that no client keeps another one out.
 */
export class FairQueue<T> {
  readonly #max: number;
  /** By address, the one whose turn is next first. */
  readonly #addresses = new Map<string, ByConnection<T>>();
  #length = 0;

  constructor(max: number) {
    this.#max = max;
  }

  get length(): number {
    return this.#length;
  }

  /** Appends an entry. @returns what the queue has no room for: another entry, this one, or null where it has room */
  add({ address, connection }: Client, entry: T): T | null {
    const connections = this.#addresses.get(address) ?? new Map<string, T[]>();
    const entries = connections.get(connection) ?? [];
    entries.push(entry);
    connections.set(connection, entries);
    this.#addresses.set(address, connections);
    this.#length++;
    return this.#length > this.#max ? this.#dropFromLongest() : null;
  }

  /** Takes the entry whose turn it is; undefined when there is none. */
  take(): T | undefined {
    for (const [address, connections] of this.#addresses) {
      for (const [connection, entries] of connections) {
        const [entry] = entries.splice(0, 1);
        // Who had its turn goes to the end.
        connections.delete(connection);
        this.#addresses.delete(address);
        if (entries.length > 0) connections.set(connection, entries);
        if (connections.size > 0) this.#addresses.set(address, connections);
        this.#length--;
        return entry;
      }
    }
  }

  /** Removes an entry. @returns whether it was still in the queue */
  remove({ address, connection }: Client, entry: T): boolean {
    const entries = this.#addresses.get(address)?.get(connection) ?? [];
    const at = entries.indexOf(entry);
    if (at < 0) return false;
    this.#removeAt(address, connection, at);
    return true;
  }

  /** Removes and returns all entries. */
  clear(): readonly T[] {
    const all = [...this.#addresses.values()].flatMap((connections) => [...connections.values()].flat());
    this.#addresses.clear();
    this.#length = 0;
    return all;
  }

  #dropFromLongest(): T {
    const [address, connections] = longest(this.#addresses, lengthOf);
    const [connection, entries] = longest(connections, (entries) => entries.length);
    return this.#removeAt(address, connection, entries.length - 1);
  }

  #removeAt(address: string, connection: string, at: number): T {
    const connections = this.#addresses.get(address) ?? new Map<string, T[]>();
    const entries = connections.get(connection) ?? [];
    const [removed] = entries.splice(at, 1);
    if (entries.length === 0) connections.delete(connection);
    if (connections.size === 0) this.#addresses.delete(address);
    this.#length--;
    return removed;
  }
}

function lengthOf(connections: ByConnection<unknown>): number {
  let length = 0;
  for (const entries of connections.values()) length += entries.length;
  return length;
}

/** The entry with the greatest length; among equals the one that was added last. */
function longest<T>(entries: ReadonlyMap<string, T>, length: (value: T) => number): [string, T] {
  return [...entries].reduce((most, entry) => length(entry[1]) >= length(most[1]) ? entry : most);
}
