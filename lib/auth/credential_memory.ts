import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { z } from "zod";

/** Wrong passwords from one address for one account, per window. */
export const MAX_WRONG_PER_ACCOUNT = 10;
/** Wrong passwords from one address, per window. */
export const MAX_WRONG_PER_ADDRESS = 60;
export const WINDOW_MS = 60_000;
/** The first wait after a limit is reached; each wrong password after a wait doubles the next one, ms. */
const FIRST_WAIT_MS = 5000;
export const LONGEST_WAIT_MS = 300_000;
/** Earlier wrong passwords are forgotten after this long without another, ms. */
const QUIET_MS = 600_000;
/** After an account was accepted from an address, the limit of the address does not apply to it for this long, ms. */
const EXEMPT_MS = 600_000;
/** A login that two roles check counts as one guess if the second check starts within this time after the first, ms. */
const SAME_GUESS_MS = 10_000;
/** The time of an acceptance is updated at most this often, ms. */
const REFRESH_MS = 10_000;
/** An acceptance is shared with other processes at most this often, ms: often enough that their exemption does not end. */
const SHARED_REFRESH_MS = EXEMPT_MS / 2;
/** Stored addresses, accounts of one address, and accounts of all addresses. */
export const MAX_ADDRESSES = 10_000;
export const MAX_ACCOUNTS_PER_ADDRESS = 128;
const MAX_ACCOUNTS = 40_000;
const MAX_EXEMPT = 10_000;
const MAX_NAME_CHARACTERS = 64;

/** Credentials of a client that are not yet known to be right. */
export interface Guess {
  /** The key of the client: `addressKey` in lib/http/request_context.ts. */
  readonly address: string;
  /** The key that {@link accountKey} returns. */
  readonly account: string;
  /** Equal for equal credentials: concurrent requests with the same ones are one guess. */
  readonly digest: string;
  /** Which role checks it. */
  readonly by: "gateway" | "results";
}

/** A pending guess. `right` and `wrong` may be called any number of times, {@link end} last. */
export interface Attempt {
  /** The credentials are right: forgets the wrong ones of this address for this account, and nothing else. */
  right(): void;
  /** The credentials are wrong. */
  wrong(): void;
  end(): void;
}

const VERDICT = z.object({
  verdict: z.enum(["wrong", "right", "accepted"]),
  address: z.string().max(MAX_NAME_CHARACTERS),
  account: z.string().max(MAX_NAME_CHARACTERS),
  /** ms since 1970 */
  at: z.number(),
});

/** A verdict of the store on credentials, for the limits of the other processes that serve the same clients. */
type SharedVerdict = z.output<typeof VERDICT>;

/** The limit that blocks a guess; `seconds` until the next one is allowed. */
export interface Blocked {
  readonly limit: "address" | "account";
  readonly seconds: number;
}

/** The key of an account's counters. Names compare without case, as in the store. */
export function accountKey(tenant: string | null, username: string): string {
  const name = `${tenant?.toLowerCase() ?? ""}/${username.normalize("NFC").toLowerCase()}`;
  return name.length <= MAX_NAME_CHARACTERS ? name : createHash("sha256").update(name).digest("base64url");
}

/**
 * Slows down guessing of passwords, by client address and account: after {@link MAX_WRONG_PER_ACCOUNT} wrong ones for an
 * account, or {@link MAX_WRONG_PER_ADDRESS} in all, an address has to wait, twice as long after each further wrong one. An
 * account is never locked for all addresses, because any client could cause that. The state is in the memory of this
 * process. Processes that exchange their verdicts ({@link GuessLimits.apply}) count together; only attempts without a
 * verdict yet are counted by each of them alone.
 *
 * The state is bounded: a new address evicts the one whose last wrong password is oldest. An address that has to wait is
 * spared once and evicted when its turn comes again. This is not a plain LRU cache, because an attacker must not choose
 * what is evicted: each entry costs a rejection by the store and a new address, from which as much could be guessed as
 * the eviction of an old entry gains.
 */
export class GuessLimits {
  readonly #addresses = new Map<string, Address>();
  readonly #exempt = new LRUCache<string, Exemption>({ max: MAX_EXEMPT });
  #accounts = 0;

  /**
   * @param now ms since 1970
   * @param share receives each verdict of this process that others must know
   */
  constructor(private readonly now: () => number, private readonly share: (verdict: SharedVerdict) => void = () => {}) {
  }

  /** Stored addresses and accounts. */
  get size(): { readonly addresses: number; readonly accounts: number } {
    return { addresses: this.#addresses.size, accounts: this.#accounts };
  }

  /** Begins an attempt. It counts at once, so concurrent attempts do not bypass the limits. */
  start(guess: Guess): Attempt | Blocked {
    const now = this.now();
    const address = this.#addresses.get(guess.address) ?? new Address();
    const account = address.accounts.get(guess.account);
    const pending = address.pending.get(guess.digest);
    if (!pending && address.repeats(guess, now)) {
      return this.#attempt(guess, address, { account: guess.account, requests: 0, wrong: true });
    }
    const byAccount = account?.waitMs(now) ?? 0;
    if (byAccount > 0) return blocked("account", byAccount);
    const exempt = this.#isExempt(guess, now);
    const byAddress = exempt ? 0 : address.all.waitMs(now);
    if (byAddress > 0) return blocked("address", byAddress);
    if (!pending) {
      const others = [...address.pending.values()];
      const ofAccount = others.filter((other) => other.account === guess.account).length;
      if (ofAccount >= (account?.allowance(now) ?? MAX_WRONG_PER_ACCOUNT)) return blocked("account", 1000);
      if (!exempt && others.length >= address.all.allowance(now)) return blocked("address", 1000);
    }
    if (!this.#isHeld(guess.address, address)) this.#remember(guess.address, address);
    return this.#attempt(guess, address, pending ?? { account: guess.account, requests: 0, wrong: false });
  }

  /** Records that the store accepted an account from an address by credentials that were not a guess. */
  accepted(who: Pick<Guess, "address" | "account">): void {
    const now = this.now();
    const { at, sharedAt } = this.#exempt.get(exemptKey(who)) ?? { at: -Infinity, sharedAt: -Infinity };
    if (now - at < REFRESH_MS) return;
    const isShared = now - sharedAt < SHARED_REFRESH_MS;
    this.#exempt.set(exemptKey(who), { at: now, sharedAt: isShared ? sharedAt : now });
    if (!isShared) this.share({ verdict: "accepted", address: who.address, account: who.account, at: now });
  }

  /**
   * Applies a verdict that another process shared. It fills the same bounded tables as the verdicts of this process.
   *
   * @param shared a {@link SharedVerdict}; anything else is ignored, and so are verdicts too old to count
   */
  apply(shared: unknown): void {
    const { data } = VERDICT.safeParse(shared);
    const now = this.now();
    if (!data || now - data.at >= QUIET_MS) return;
    const { verdict, address: key, account } = data;
    // The clock of the other process may be ahead.
    const at = Math.min(data.at, now);
    if (verdict === "wrong") return this.#wrong(key, this.#addresses.get(key) ?? new Address(), account, at);
    const exemption = this.#exempt.get(exemptKey(data));
    if (!exemption || exemption.at < at) this.#exempt.set(exemptKey(data), { at, sharedAt: at });
    if (verdict === "right") this.#right(key, account, at);
  }

  #attempt(guess: Guess, address: Address, pending: Pending): Attempt {
    pending.requests++;
    address.pending.set(guess.digest, pending);
    let ended = false;
    return {
      right: () => {
        const now = this.now();
        this.#right(guess.address, guess.account, Infinity);
        this.#exempt.set(exemptKey(guess), { at: now, sharedAt: now });
        this.share({ verdict: "right", address: guess.address, account: guess.account, at: now });
      },
      wrong: () => {
        if (pending.wrong) return;
        pending.wrong = true;
        const now = this.now();
        address.lastWrong = { guess, at: now };
        this.#wrong(guess.address, address, guess.account, now);
        this.share({ verdict: "wrong", address: guess.address, account: guess.account, at: now });
      },
      end: () => {
        if (ended) return;
        ended = true;
        if (--pending.requests > 0) return;
        address.pending.delete(guess.digest);
        if (address.isEmpty) this.#forget(guess.address, address);
      },
    };
  }

  #wrong(key: string, address: Address, account: string, at: number): void {
    // Last in the order of the map: the last to be evicted.
    this.#forget(key, address);
    address.wrong(account, at);
    this.#remember(key, address);
    this.#makeRoom();
  }

  #right(key: string, account: string, at: number): void {
    const accounts = this.#addresses.get(key)?.accounts;
    const count = accounts?.get(account);
    // A later verdict of another process may have arrived first.
    if (count && count.last <= at && accounts?.delete(account)) this.#accounts--;
  }

  #isExempt(guess: Guess, now: number): boolean {
    const exemption = this.#exempt.get(exemptKey(guess));
    return exemption !== undefined && now - exemption.at < EXEMPT_MS;
  }

  #isHeld(key: string, address: Address): boolean {
    return this.#addresses.get(key) === address;
  }

  #remember(key: string, address: Address): void {
    this.#addresses.set(key, address);
    this.#accounts += address.accounts.size;
  }

  #forget(key: string, address: Address): void {
    if (!this.#isHeld(key, address)) return;
    this.#addresses.delete(key);
    this.#accounts -= address.accounts.size;
  }

  #makeRoom(): void {
    const now = this.now();
    let looks = 2 * this.#addresses.size;
    for (const [key, address] of this.#addresses) {
      const isFull = this.#addresses.size > MAX_ADDRESSES || this.#accounts > MAX_ACCOUNTS;
      if (!isFull || looks-- === 0) return;
      this.#forget(key, address);
      if (address.pending.size === 0 && (address.spared || !address.isWaiting(now))) continue;
      // Spared once: the loop reaches it again after all others.
      address.spared = true;
      this.#remember(key, address);
    }
  }
}

/** When an account was accepted from an address, and when the others were last informed of it; ms since 1970. */
interface Exemption {
  readonly at: number;
  readonly sharedAt: number;
}

/** Credentials whose verdict is pending, and the number of requests that wait for it. */
interface Pending {
  readonly account: string;
  requests: number;
  wrong: boolean;
}

/** The counters of one address. */
class Address {
  readonly all = new WrongCount(MAX_WRONG_PER_ADDRESS);
  readonly accounts = new Map<string, WrongCount>();
  readonly pending = new Map<string, Pending>();
  /** The last guess that was wrong, unless the other role has checked it since. */
  lastWrong: { readonly guess: Guess; readonly at: number } | null = null;
  /** Whether it was spared from eviction when it was the oldest. */
  spared = false;

  get isEmpty(): boolean {
    return this.pending.size === 0 && this.accounts.size === 0 && this.all.isEmpty;
  }

  /** Whether another role has just found this guess wrong. It is so once: further ones count. */
  repeats({ digest, by }: Guess, now: number): boolean {
    const { lastWrong } = this;
    if (lastWrong === null || now - lastWrong.at >= SAME_GUESS_MS) return false;
    if (lastWrong.guess.digest !== digest || lastWrong.guess.by === by) return false;
    this.lastWrong = null;
    return true;
  }

  wrong(account: string, now: number): void {
    this.spared = false;
    this.all.add(now);
    const count = this.accounts.get(account) ?? new WrongCount(MAX_WRONG_PER_ACCOUNT);
    count.add(now);
    this.accounts.delete(account);
    this.accounts.set(account, count);
    if (this.accounts.size <= MAX_ACCOUNTS_PER_ADDRESS) return;
    const [first] = this.accounts.keys();
    const calm = this.accounts.entries().find(([, count]) => !count.isSlowed(now))?.[0];
    this.accounts.delete(calm ?? first);
  }

  isWaiting(now: number): boolean {
    return this.all.isSlowed(now) || this.accounts.values().some((count) => count.isSlowed(now));
  }
}

/** Wrong passwords within the window, and the waits they caused. */
class WrongCount {
  #moments: number[] = [];
  #waits = 0;
  #waitsUntil = 0;
  #last = -Infinity;

  constructor(private readonly max: number) {
  }

  get isEmpty(): boolean {
    return this.#last === -Infinity;
  }

  /** The time of the newest wrong password, ms since 1970. */
  get last(): number {
    return this.#last;
  }

  /** Whether it caused a wait that is not forgotten yet. */
  isSlowed(now: number): boolean {
    return this.#waits > 0 && now - this.#last < QUIET_MS;
  }

  /** How long until the next try, ms. */
  waitMs(now: number): number {
    return this.isSlowed(now) ? Math.max(0, this.#waitsUntil - now) : 0;
  }

  /** How many attempts may be pending at the same time. */
  allowance(now: number): number {
    if (this.isSlowed(now)) return 1;
    return this.max - this.#moments.filter((moment) => moment > now - WINDOW_MS).length;
  }

  /** @param at that of a verdict of another process may be before the last one */
  add(at: number): void {
    if (!this.isSlowed(at)) this.#waits = 0;
    this.#last = Math.max(at, this.#last);
    this.#moments.push(at);
    this.#moments = this.#moments.filter((moment) => moment > this.#last - WINDOW_MS);
    if (this.#waits === 0 && this.#moments.length < this.max) return;
    this.#moments = [];
    this.#waitsUntil = this.#last + Math.min(FIRST_WAIT_MS * 2 ** this.#waits++, LONGEST_WAIT_MS);
  }
}

function exemptKey({ address, account }: Pick<Guess, "address" | "account">): string {
  return `${address} ${account}`;
}

function blocked(limit: Blocked["limit"], waitMs: number): Blocked {
  return { limit, seconds: Math.ceil(waitMs / 1000) };
}
