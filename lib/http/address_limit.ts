import { InFlight } from "./in_flight.ts";

/** What is full: the share of one address, or the sum over all addresses. */
export type Full = "address" | "all";

/** Limits how much runs at a time, for each client address and in all, so that one address cannot take every place. */
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

  /**
   * Takes a place for an address.
   *
   * @param address key of a client address, see `addressKey`
   * @returns a function that releases the place, once however often it is called; or what is full
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
