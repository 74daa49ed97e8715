/** How many run of one key, one or more. */
interface Entry {
  count: number;
}

/** Limits how many of something run at a time, by key. A key of which none runs takes no memory. */
export class InFlight {
  readonly #entries = new Map<string, Entry>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** How many may run of one key. */
  get max(): number {
    return this.#max;
  }

  /** How many run now. */
  count(key = ""): number {
    return this.#entries.get(key)?.count ?? 0;
  }

  /** Takes a slot. @returns a function that releases it, once however often it is called; null when all are taken */
  enter(key = ""): (() => void) | null {
    let entry = this.#entries.get(key);
    if ((entry?.count ?? 0) >= this.#max) return null;
    if (entry) entry.count++;
    else this.#entries.set(key, entry = { count: 1 });
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      if (--entry.count === 0) this.#entries.delete(key);
    };
  }
}

/** What is full: the share of one address, or the sum over all addresses. */
export type Full = "address" | "all";

/** Limits how much runs at a time, for each client address and in all, so that one address cannot take every slot. */
export class AddressLimit {
  readonly #byAddress: InFlight;
  readonly #all: InFlight;

  constructor(maxPerAddress: number, max: number) {
    this.#byAddress = new InFlight(maxPerAddress);
    this.#all = new InFlight(max);
  }

  /** How much runs now, in all. */
  get count(): number {
    return this.#all.count();
  }

  /** How much may run, in all. */
  get max(): number {
    return this.#all.max;
  }

  /**
   * Takes a slot for an address.
   *
   * @param address key of a client address, see `addressKey`
   * @returns a function that releases the slot, once however often it is called; or what is full
   */
  enter(address: string): (() => void) | Full {
    const releaseAll = this.#all.enter();
    if (!releaseAll) return "all";
    const releaseAddress = this.#byAddress.enter(address);
    if (!releaseAddress) {
      releaseAll();
      return "address";
    }
    return () => {
      releaseAll();
      releaseAddress();
    };
  }
}
