import { AddressLimit } from "./address_limit.ts";
import { addressKey } from "./client_address.ts";
import { unavailable } from "./errors.ts";
import type { RequestContext } from "./request_context.ts";

/** Requests of clients whose credentials are not checked yet: from one address, and in all. */
export const MAX_UNPROVEN_PER_ADDRESS = 64;
export const MAX_UNPROVEN = 512;
/** Bodies that need no credentials, such as that of a login: from one address, and in all. */
export const MAX_LOGINS_PER_ADDRESS = 16;
export const MAX_LOGINS = 256;
const RETRY_AFTER_SECONDS = 1;

/** Places for the requests of clients whose credentials are not proven, apart from those of clients with proven ones. */
export class UnprovenRequests {
  readonly #limit: AddressLimit;

  constructor(maxPerAddress: number, max: number) {
    this.#limit = new AddressLimit(maxPerAddress, max);
  }

  /** How many are taken. */
  get count(): number {
    return this.#limit.count;
  }

  /**
   * Takes a place for a request.
   *
   * @returns a function that releases the place, once however often it is called
   * @throws HttpError 503 when none is left
   */
  enter(context: RequestContext): () => void {
    const place = this.#limit.enter(addressKey(context.clientAddress));
    if (place === "address") throw unavailable("Too many requests of this address at a time", RETRY_AFTER_SECONDS);
    if (place === "all") {
      throw unavailable("Too many requests without proven credentials at a time", RETRY_AFTER_SECONDS);
    }
    return place;
  }
}
