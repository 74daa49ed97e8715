/** Logins from one address, per window. */
export const MAX_PER_ADDRESS = 5;
export const ADDRESS_WINDOW_MS = 60_000;
/** Logins under one user name, per window. */
export const MAX_PER_USER = 10;
export const USER_WINDOW_MS = 300_000;
/** Addresses, and names, that are remembered; the one tried least recently is forgotten first. */
export const MAX_KEYS = 10_000;
/** Logins that wait for the store at once. */
export const MAX_WAITING = 4;

/** A login under way; exactly one of its endings is called. */
export interface Attempt {
  /** The store knows these credentials: earlier attempts of this address and name are forgotten. */
  succeeded(): void;
  /** The store refused them: the attempt stays counted. */
  refused(): void;
  /** The store could not be asked: the attempt was none. */
  unjudged(): void;
}

/** Why a login may not start; `seconds` until it is worth another try. */
export interface Blocked {
  readonly limit: "address" | "user" | "busy";
  readonly seconds: number;
}

export interface LoginLimits {
  start(address: string, user: string): Attempt | Blocked;
}

/**
 * Keeps guessing of passwords slow: sliding windows per client address and per user name, in the memory of this process.
 * An attempt counts from its start, so that many at once are no way around. Names compare without case, as the store's do.
 *
 * @param now ms since 1970
 */
export function loginLimits(now: () => number): LoginLimits {
  const addresses = new SlidingWindow(MAX_PER_ADDRESS, ADDRESS_WINDOW_MS, MAX_KEYS);
  const users = new SlidingWindow(MAX_PER_USER, USER_WINDOW_MS, MAX_KEYS);
  let waiting = 0;
  return {
    start(address, user) {
      const name = user.normalize("NFC").toLowerCase();
      const at = now();
      const addressWait = addresses.add(address, at);
      if (addressWait > 0) return { limit: "address", seconds: Math.ceil(addressWait / 1000) };
      const userWait = users.add(name, at);
      if (userWait > 0) {
        addresses.take(address, at);
        return { limit: "user", seconds: Math.ceil(userWait / 1000) };
      }
      const uncount = () => {
        addresses.take(address, at);
        users.take(name, at);
      };
      if (waiting >= MAX_WAITING) {
        uncount();
        return { limit: "busy", seconds: 1 };
      }
      waiting++;
      return {
        succeeded() {
          waiting--;
          addresses.clear(address);
          users.clear(name);
        },
        refused() {
          waiting--;
        },
        unjudged() {
          waiting--;
          uncount();
        },
      };
    },
  };
}

/** At most `limit` moments per key within `windowMs`. */
class SlidingWindow {
  readonly #moments = new Map<string, number[]>();

  constructor(readonly limit: number, readonly windowMs: number, readonly capacity: number) {}

  /** Counts one, or answers how many ms it is too early. */
  add(key: string, at: number): number {
    const moments = (this.#moments.get(key) ?? []).filter((moment) => moment > at - this.windowMs);
    // Set anew, so that the order of the map is that of the last attempts.
    this.#moments.delete(key);
    this.#moments.set(key, moments);
    if (this.#moments.size > this.capacity) {
      const [oldest] = this.#moments.keys();
      this.#moments.delete(oldest);
    }
    if (moments.length >= this.limit) return moments[0] + this.windowMs - at;
    moments.push(at);
    return 0;
  }

  /** Takes one back. */
  take(key: string, at: number): void {
    const moments = this.#moments.get(key);
    const index = moments?.lastIndexOf(at) ?? -1;
    if (!moments || index < 0) return;
    moments.splice(index, 1);
    if (moments.length === 0) this.#moments.delete(key);
  }

  clear(key: string): void {
    this.#moments.delete(key);
  }
}
