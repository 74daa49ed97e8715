import { consoleSecurity } from "@/embedded/store/default_records.ts";
import type { Documents } from "@/embedded/store/documents.ts";
import type { Statements } from "@/embedded/store/statements.ts";
import { isNoSpace } from "@/embedded/store/store_error.ts";
import { isEnabled, isLastAdministrator, type User } from "@/embedded/store/stored_accounts.ts";
import type { WriterClient } from "@/embedded/store/writer/writer_client.ts";
import { sleep } from "@/lib/std/timing.ts";

const MS_PER_MINUTE = 60_000;

/** Waits for a count to be stored, and ignores a full disk: it must not change the outcome of a login. */
async function ignoringFullDisk(counting: Promise<unknown>): Promise<void> {
  try {
    await counting;
  } catch (error) {
    if (!isNoSpace(error)) throw error;
  }
}

/**
 * Checks logins of both protocols: responses to wrong passwords are delayed, and lock an account where the rules
 * of its tenant say so.
 */
export class Logins {
  /** Counts of wrong passwords that are being stored, by user. */
  readonly #counting = new Map<number, Promise<unknown>>();

  readonly #delay: FailedLoginDelay;

  /** `now` returns milliseconds since 1970. */
  constructor(
    private readonly index: Statements,
    private readonly documents: Documents,
    private readonly writer: WriterClient,
    private readonly now: () => number,
  ) {
    this.#delay = new FailedLoginDelay(now);
  }

  /**
   * The user that `find` returns, where `isRight` confirms the password; "closed" when there is none, or when it may
   * not log in even with the right password. A wrong password is counted durably. Concurrent guesses are checked one
   * after the other, so that a burst cannot avoid the lock.
   */
  async attempt(find: () => User | null, isRight: (user: User) => boolean): Promise<User | "closed" | "wrong"> {
    let user = find();
    for (let counting; user && (counting = this.#counting.get(user.id)); user = find()) await counting;
    if (!user || !isEnabled(user) || this.isLocked(user)) {
      await this.delayFailure();
      return "closed";
    }
    if (!isRight(user)) {
      await Promise.all([this.#failed(user), this.delayFailure()]);
      return "wrong";
    }
    if (user.failedAttempts > 0 || user.lockedMs !== null) {
      await ignoringFullDisk(this.writer.change("resetFailures", { user: user.id }));
    }
    return user;
  }

  /** Counts a failed login, and resolves when the response may be sent: at most a quarter of a second later. */
  delayFailure(): Promise<void> {
    return this.#delay.delay();
  }

  /** Whether wrong passwords locked an account, and the lock has not expired. */
  isLocked(user: User): boolean {
    if (user.lockedMs === null) return false;
    const after = this.#unlockAfterMs(user);
    if (after !== null && user.lockedMs + after <= this.now()) return false;
    // The other administrators may have been removed since it was locked.
    return !isLastAdministrator(this.index, user, after === null ? -1 : this.now() - after);
  }

  async #failed(user: User): Promise<void> {
    const { disableAfterAttempts } = consoleSecurity(this.documents, user.tenant);
    if (disableAfterAttempts === 0) return;
    const counting = this.writer.change("countFailure", {
      user: user.id,
      limit: disableAfterAttempts,
      unlockAfterMs: this.#unlockAfterMs(user),
      atMs: this.now(),
    });
    this.#counting.set(user.id, counting.catch(() => {}));
    try {
      await ignoringFullDisk(counting);
    } finally {
      this.#counting.delete(user.id);
    }
  }

  #unlockAfterMs(user: User): number | null {
    const rules = consoleSecurity(this.documents, user.tenant);
    return rules.automaticUserAccountUnlockSetting ? rules.automaticUserAccoutUnlockDuration * MS_PER_MINUTE : null;
  }
}

/** Failures that are not delayed: people mistype. */
const FREE_ATTEMPTS = 5;
/** Failures that the count loses per second. */
const DECAY_PER_SECOND = 1;
/**
 * Delay that each further failure adds, ms. The longest delay is short because a gateway in front of the store holds a
 * slot meanwhile. The gateway limits the guesses of an address.
 */
const STEP_MS = 25;
const MAX_MS = 250;
/**
 * Most responses that are delayed at the same time. Further ones are not delayed, which bounds the memory that guessing
 * takes.
 */
const MAX_WAITING = 256;

/**
 * Slows down guessing: the more failed logins there were, the later the response to the next one. Successful logins are
 * never delayed. It counts for the whole store and not per account: all requests come from the gateway, and the time of
 * a response must not reveal which accounts exist.
 */
export class FailedLoginDelay {
  #level = 0;
  #atMs = 0;
  #waiting = 0;

  /** @param now ms since 1970 */
  constructor(private readonly now: () => number, private readonly wait: (ms: number) => Promise<void> = sleep) {}

  /** Counts a failed login, and resolves when the response may be sent: at most a quarter of a second later. */
  async delay(): Promise<void> {
    const at = this.now();
    const decay = Math.max(0, at - this.#atMs) / 1000 * DECAY_PER_SECOND;
    this.#atMs = at;
    this.#level = Math.min(Math.max(0, this.#level - decay) + 1, FREE_ATTEMPTS + MAX_MS / STEP_MS);
    const ms = Math.min((this.#level - FREE_ATTEMPTS) * STEP_MS, MAX_MS);
    if (ms <= 0 || this.#waiting >= MAX_WAITING) return;
    this.#waiting++;
    try {
      await this.wait(ms);
    } finally {
      this.#waiting--;
    }
  }
}
