import { createHmac, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";

/** How long after the store accepted an identity its requests need no further proof, ms. */
export const PROVEN_MS = 60_000;
/** How long after that showing the same credentials is no guess, ms. */
export const KNOWN_MS = 600_000;
/** Identities that are remembered; the one used least recently is forgotten first. */
const MAX_IDENTITIES = 10_000;
/** An acceptance that is younger is not noted again, ms. */
const NOTE_EVERY_MS = 1000;

/** A user name and password with the tenant they are meant for. */
interface LoginCredentials {
  readonly username: string;
  readonly password: string;
  /** Null: system level. */
  readonly tenant: string | null;
}

/**
 * The identities that the store accepted lately, in the memory of this process, by digest: credentials themselves are
 * not kept. Only an acceptance takes room, so that invented credentials push nobody out.
 */
export class AcceptedIdentities {
  readonly #acceptedAt = new LRUCache<string, number>({ max: MAX_IDENTITIES });
  readonly #secret = randomBytes(32);
  readonly #now: () => number;

  /** @param now ms since 1970 */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** What an identity is known by: equal for equal credentials in this process, and of no use elsewhere. */
  digest({ username, password, tenant }: LoginCredentials): string {
    const text = JSON.stringify([tenant?.toLowerCase() ?? null, username, password]);
    return createHmac("sha256", this.#secret).update(text).digest("base64url");
  }

  /** Whether the store accepted it within {@link PROVEN_MS}. */
  isProven(digest: string): boolean {
    return this.#age(digest) < PROVEN_MS;
  }

  /** Whether the store accepted it within {@link KNOWN_MS}, and has not refused it since. */
  isKnown(digest: string): boolean {
    return this.#age(digest) < KNOWN_MS;
  }

  /** The store accepted it. */
  accept(digest: string): void {
    if (!(this.#age(digest) < NOTE_EVERY_MS)) this.#acceptedAt.set(digest, this.#now());
  }

  /** The store refused it, whatever it said before. */
  refuse(digest: string): void {
    this.#acceptedAt.delete(digest);
  }

  #age(digest: string): number {
    const at = this.#acceptedAt.get(digest);
    return at === undefined ? Infinity : this.#now() - at;
  }
}
