import { addressKey } from "./client_address.ts";
import { unavailable } from "./errors.ts";
import type { Exchange } from "./exchange.ts";
import { InFlight } from "./in_flight.ts";

/** Requests of clients whose credentials nobody has judged yet: from one address, and in all. */
export const MAX_UNPROVEN_PER_ADDRESS = 64;
export const MAX_UNPROVEN = 512;
/** Bodies that anybody may send, such as that of a login: from one address, and in all. */
export const MAX_LOGINS_PER_ADDRESS = 16;
export const MAX_LOGINS = 256;
const RETRY_AFTER_SECONDS = 1;

/**
 * Places for the requests of clients that have proven nothing, counted by client address: whoever takes all that an
 * address may have is in the way of that address alone, and never takes those of clients with proven credentials.
 */
export class UnprovenPlaces {
  readonly #ofAddress: InFlight;
  readonly #all: InFlight;

  constructor(maxPerAddress: number, max: number) {
    this.#ofAddress = new InFlight(maxPerAddress);
    this.#all = new InFlight(max);
  }

  /** How many are taken. */
  get count(): number {
    return this.#all.count();
  }

  /** Takes a place for a request; returns how to release it, which counts once. @throws HttpError 503 when none is left */
  enter(exchange: Exchange): () => void {
    const leaveAddress = this.#ofAddress.enter(addressKey(exchange.clientAddress));
    if (!leaveAddress) throw unavailable("Too many requests of this address at a time", RETRY_AFTER_SECONDS);
    const leaveAll = this.#all.enter();
    if (!leaveAll) {
      leaveAddress();
      throw unavailable("Too many requests without proven credentials at a time", RETRY_AFTER_SECONDS);
    }
    return () => {
      leaveAddress();
      leaveAll();
    };
  }
}
