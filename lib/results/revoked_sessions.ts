import type { RequestLog } from "@/lib/http/access_log.ts";
import { type RevocationContent, revocationText, revocationTextParsed } from "./revocation_text.ts";

/** Revoked sessions of one account that are listed; beyond them, all that were issued up to the newest of them end. */
export const MAX_PER_ACCOUNT = 32;
/** Revoked sessions that are listed in all; beyond them, each account has but its newest. */
export const MAX_LISTED = 10_000;
/** From a failed write to the next attempt, ms: doubled each time, up to the other. */
export const RETRY_MS = 1000;
export const MAX_RETRY_MS = 60_000;

/** Where revoked sessions outlast the process. */
export interface RevocationFile {
  /** What was written last; null before the first time. */
  read(): string | null;
  /** Returns once the text is durable. @throws whatever keeps it from being so */
  write(text: string): void;
}

/** A session as far as its revocation is concerned. */
export interface RevocableSession {
  /** A digest of its token. */
  readonly digest: string;
  /** Equal for sessions with the same keys, and of no use to who reads it. */
  readonly account: string;
  /** Seconds since 1970. */
  readonly expiresAt: number;
  /** Seconds since 1970; null where its token does not tell. */
  readonly issuedAt: number | null;
}

/** Up to which of an account's sessions all have ended; both in seconds since 1970. */
interface Bound {
  /** For sessions that tell when they were issued; null: none of them. */
  readonly issuedAt: number | null;
  /** For the others, and until when the bound is remembered. */
  readonly expiresAt: number;
}

/** Raised at the start for a file that holds something else. */
export class RevocationFileError extends Error {
  override readonly name = "RevocationFileError";
}

/**
 * Sessions that ended before their time, remembered until they would have expired. Only sessions that this role sealed
 * come here, so that nobody fills it without an account; and no account fills it, since what goes beyond
 * {@link MAX_PER_ACCOUNT} is one entry: by time of issue, so that whoever logs in afterwards is let in, however long
 * sessions last by then.
 */
export class RevokedSessions {
  readonly #listed = new Map<string, Omit<RevocableSession, "digest">>();
  /** By account, where its revoked sessions are no longer listed. */
  readonly #upTo = new Map<string, Bound>();
  readonly #file: RevocationFile | null;
  readonly #log: RequestLog;
  readonly #now: () => number;
  readonly #later: (run: () => void, ms: number) => void;
  /** The next attempt to write what could not be written, and in how many ms; null: everything is written. */
  #retry: { readonly ms: number } | null = null;

  /**
   * @param file null: what is revoked is known to this process alone
   * @param now ms since 1970
   * @param later calls back after so many ms, unless the process ends before
   * @throws RevocationFileError
   */
  constructor(
    file: RevocationFile | null,
    log: RequestLog,
    now: () => number,
    later: (run: () => void, ms: number) => void = unlessEnded,
  ) {
    this.#file = file;
    this.#log = log;
    this.#now = now;
    this.#later = later;
    const text = file?.read() ?? null;
    if (text !== null) this.#load(text);
  }

  /** How many entries there are. */
  get size(): number {
    return this.#listed.size + this.#upTo.size;
  }

  /** Whether a session was revoked. */
  has(session: RevocableSession): boolean {
    if (this.#listed.has(session.digest)) return true;
    const bound = this.#upTo.size > 0 ? this.#upTo.get(session.account) : undefined;
    if (!bound) return false;
    if (session.issuedAt === null) return session.expiresAt <= bound.expiresAt;
    return bound.issuedAt !== null && session.issuedAt <= bound.issuedAt;
  }

  /**
   * Revokes sessions, durably where there is a file. Where that fails they are revoked in this process, and written
   * later: by the next call, even one with nothing new, or by a timer.
   */
  add(sessions: readonly RevocableSession[]): void {
    const added = sessions.filter((session) => !this.has(session));
    if (added.length === 0 && (sessions.length === 0 || this.#retry === null)) return;
    this.#dropExpired();
    for (const { digest, account, expiresAt, issuedAt } of added) {
      this.#listed.set(digest, { account, expiresAt, issuedAt });
      const ofAccount = this.#listed.values().filter((one) => one.account === account).reduce((count) => count + 1, 0);
      if (ofAccount > MAX_PER_ACCOUNT) this.#fold((one) => one === account);
    }
    if (this.#listed.size > MAX_LISTED) this.#fold(() => true);
    this.#write();
  }

  #fold(matches: (account: string) => boolean): void {
    for (const [digest, { account, expiresAt, issuedAt }] of this.#listed) {
      if (!matches(account)) continue;
      this.#listed.delete(digest);
      const bound = this.#upTo.get(account) ?? { issuedAt: null, expiresAt: -Infinity };
      this.#upTo.set(account, {
        issuedAt: issuedAt === null ? bound.issuedAt : Math.max(issuedAt, bound.issuedAt ?? -Infinity),
        expiresAt: Math.max(expiresAt, bound.expiresAt),
      });
    }
  }

  #dropExpired(): void {
    const now = this.#now() / 1000;
    for (const [digest, { expiresAt }] of this.#listed) if (expiresAt <= now) this.#listed.delete(digest);
    for (const [account, { expiresAt }] of this.#upTo) if (expiresAt <= now) this.#upTo.delete(account);
  }

  /** Writes everything; where that fails and no attempt is due yet, one is. */
  #write(): void {
    if (!this.#file) return;
    try {
      this.#file.write(revocationText(this.#content()));
    } catch (error) {
      if (this.#retry !== null) return;
      const reason = error instanceof Error ? error.name : typeof error;
      const message =
        `A session was revoked, but the data folder could not be written (${reason}): until it can, what ` +
        "is revoked is known to this process only. Make the folder writable, or make room.";
      this.#log.write({ level: "error", message });
      this.#retryIn(RETRY_MS);
      return;
    }
    if (this.#retry === null) return;
    this.#retry = null;
    this.#log.write({ level: "info", message: "The revoked sessions are in the data folder again." });
  }

  #retryIn(ms: number): void {
    const retry = { ms };
    this.#retry = retry;
    this.#later(() => {
      // Written meanwhile; what failed after that has a timer of its own.
      if (this.#retry !== retry) return;
      this.#dropExpired();
      this.#write();
      if (this.#retry !== null) this.#retryIn(Math.min(2 * ms, MAX_RETRY_MS));
    }, ms);
  }

  #content(): RevocationContent {
    return {
      listed: [...this.#listed].map(([digest, { account, expiresAt, issuedAt }]) => [
        digest,
        account,
        expiresAt,
        issuedAt,
      ]),
      upTo: [...this.#upTo].map(([account, { expiresAt, issuedAt }]) => [account, expiresAt, issuedAt]),
    };
  }

  #load(text: string): void {
    const content = revocationTextParsed(text);
    if (content === null) throw new RevocationFileError("is damaged, or was written by another version");
    const { listed, upTo } = content;
    for (const [digest, account, expiresAt, issuedAt] of listed) {
      this.#listed.set(digest, { account, expiresAt, issuedAt });
    }
    for (const [account, expiresAt, issuedAt] of upTo) this.#upTo.set(account, { expiresAt, issuedAt });
    this.#dropExpired();
  }
}

function unlessEnded(run: () => void, ms: number): void {
  Deno.unrefTimer(setTimeout(run, ms));
}
