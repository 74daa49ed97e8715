import { isEnabled, type User } from "@/embedded/store/accounts.ts";
import { consoleSecurity } from "@/embedded/store/console_security.ts";
import type { Documents } from "@/embedded/store/documents.ts";
import { isLastAdministrator } from "@/embedded/store/last_administrator.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { Statements } from "@/embedded/store/statements.ts";
import type { WriterClient } from "@/embedded/store/writer/writer_client.ts";
import { FailedLoginDelay } from "@/embedded/store/failed_login_delay.ts";

const MS_PER_MINUTE = 60_000;

/** Waits for a count to be stored, and ignores a full disk: it must not change the outcome of a login. */
async function unlessFull(counting: Promise<unknown>): Promise<void> {
  try {
    await counting;
  } catch (error) {
    if (!(error instanceof StoreError && error.code === "NoSpace")) throw error;
  }
}

/**
 * Decides over logins of both protocols: responses to wrong passwords are delayed, and lock an account where the rules
 * of its tenant say so.
 */
export class Logins {
  readonly #index: Statements;
  readonly #documents: Documents;
  readonly #writer: WriterClient;
  readonly #now: () => number;
  /** Counts of wrong passwords that are being stored, by user. */
  readonly #counting = new Map<number, Promise<unknown>>();

  readonly #delay: FailedLoginDelay;

  /** `now` returns milliseconds since 1970. */
  constructor(index: Statements, documents: Documents, writer: WriterClient, now: () => number) {
    this.#index = index;
    this.#delay = new FailedLoginDelay(now);
    this.#documents = documents;
    this.#writer = writer;
    this.#now = now;
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
      await unlessFull(this.#writer.change("resetFailures", { user: user.id }));
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
    if (after !== null && user.lockedMs + after <= this.#now()) return false;
    // The other administrators may have been removed since it was locked.
    return !isLastAdministrator(this.#index, user, after === null ? -1 : this.#now() - after);
  }

  async #failed(user: User): Promise<void> {
    const { disableAfterAttempts } = consoleSecurity(this.#documents, user.tenant);
    if (disableAfterAttempts === 0) return;
    const counting = this.#writer.change("countFailure", {
      user: user.id,
      limit: disableAfterAttempts,
      unlockAfterMs: this.#unlockAfterMs(user),
      atMs: this.#now(),
    });
    this.#counting.set(user.id, counting.catch(() => {}));
    try {
      await unlessFull(counting);
    } finally {
      this.#counting.delete(user.id);
    }
  }

  #unlockAfterMs(user: User): number | null {
    const rules = consoleSecurity(this.#documents, user.tenant);
    return rules.automaticUserAccountUnlockSetting ? rules.automaticUserAccoutUnlockDuration * MS_PER_MINUTE : null;
  }
}
