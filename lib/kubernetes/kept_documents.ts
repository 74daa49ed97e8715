/** A document and the memory it takes, bytes. */
export interface SizedDocument<T> {
  readonly value: T;
  readonly size: number;
}

/**
 * What was read of ConfigMaps, each by its resource version, within a budget of bytes: what was used least recently goes
 * first. Readers who ask for the same version at the same time share one read.
 */
export class KeptDocuments<T> {
  readonly #budget: number;
  readonly #kept = new Map<string, Kept<T>>();
  readonly #reading = new Map<string, Promise<T>>();
  #size = 0;

  /** @param budget bytes */
  constructor(budget: number) {
    this.#budget = budget;
  }

  /** Bytes that are held. */
  get size(): number {
    return this.#size;
  }

  /**
   * The document of a name in a version, read by `read` unless it is kept. What `read` answers counts as that version,
   * though it may be a later one: the next event tells. A failure is handed on and not kept.
   */
  read(name: string, version: string, read: () => Promise<SizedDocument<T>>): Promise<T> {
    const kept = this.#kept.get(name);
    if (kept?.version === version) {
      this.#kept.delete(name);
      this.#kept.set(name, kept);
      return Promise.resolve(kept.value);
    }
    const work = `${name}@${version}`;
    const underWay = this.#reading.get(work);
    if (underWay) return underWay;
    const reading = this.#readNow(name, version, read).finally(() => this.#reading.delete(work));
    this.#reading.set(work, reading);
    return reading;
  }

  async #readNow(name: string, version: string, read: () => Promise<SizedDocument<T>>): Promise<T> {
    const { value, size } = await read();
    this.keep(name, version, { value, size });
    return value;
  }

  /** Keeps a document that came by itself; one beyond the whole budget is not kept. */
  keep(name: string, version: string, { value, size }: SizedDocument<T>): void {
    this.#drop(name);
    if (size > this.#budget) return;
    this.#kept.set(name, { version, value, size });
    this.#size += size;
    for (const oldest of this.#kept.keys()) {
      if (this.#size <= this.#budget) return;
      this.#drop(oldest);
    }
  }

  #drop(name: string): void {
    const kept = this.#kept.get(name);
    if (!kept) return;
    this.#size -= kept.size;
    this.#kept.delete(name);
  }
}

interface Kept<T> extends SizedDocument<T> {
  readonly version: string;
}
