import { createHmac, randomBytes } from "node:crypto";
import { CountedCache } from "@/lib/std/caches.ts";

/** After the store accepted an identity, its requests need no further proof for this long, ms. */
export const PROVEN_MS = 60_000;
/** For this long after that, the same credentials do not count as a guess, ms. */
export const KNOWN_MS = 600_000;
/** Identities that are cached. */
const MAX_IDENTITIES = 10_000;
/** The time of an acceptance is updated at most this often, ms. */
const REFRESH_MS = 1000;

/** A user name and password with the tenant they are meant for. */
interface LoginCredentials {
  readonly username: string;
  readonly password: string;
  /** Null: system level. */
  readonly tenant: string | null;
}

/**
 * The identities that the store accepted recently, in the memory of this process, by digest: credentials themselves are
 * not stored. Only accepted identities are stored, so invented credentials cannot evict others.
 */
export class AcceptedIdentities {
  readonly #acceptedAt = new CountedCache<string, number>("accepted_identities", { max: MAX_IDENTITIES });
  readonly #key = randomBytes(32);
  readonly #now: () => number;

  /** @param now ms since 1970 */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** The digest of an identity: equal for equal credentials in this process, and of no use elsewhere. */
  digest({ username, password, tenant }: LoginCredentials): string {
    const text = JSON.stringify([tenant?.toLowerCase() ?? null, username, password]);
    return createHmac("sha256", this.#key).update(text).digest("hex");
  }

  /** Whether the store accepted it within {@link PROVEN_MS}. */
  isProven(digest: string): boolean {
    return this.#age(digest) < PROVEN_MS;
  }

  /** Whether the store accepted it within {@link KNOWN_MS} and has not rejected it since. */
  isKnown(digest: string): boolean {
    return this.#age(digest) < KNOWN_MS;
  }

  /** Records that the store accepted an identity. */
  accept(digest: string): void {
    if (!(this.#age(digest) < REFRESH_MS)) this.#acceptedAt.set(digest, this.#now());
  }

  /** Records that the store rejected an identity. */
  reject(digest: string): void {
    this.#acceptedAt.delete(digest);
  }

  #age(digest: string): number {
    const at = this.#acceptedAt.get(digest);
    return at === undefined ? Infinity : this.#now() - at;
  }
}
