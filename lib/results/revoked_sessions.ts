import type { RequestLog } from "@/lib/http/access_log.ts";
import { parseRevocationText, type RevocationContent, revocationText } from "./revocation_text.ts";

/** Listed sessions per account; beyond that number all sessions issued up to the newest of them are revoked. */
export const MAX_PER_ACCOUNT = 32;
/** Listed sessions in all; beyond that number each account is reduced to one bound. */
export const MAX_LISTED = 10_000;
/** From a failed write to the next attempt, ms: doubled each time, up to MAX_RETRY_MS. */
export const RETRY_MS = 1000;
export const MAX_RETRY_MS = 60_000;

/** The file that keeps revoked sessions beyond the process. */
export interface RevocationFile {
  /** The text written last; null before the first write. */
  read(): string | null;
  /** Returns once the text is durable. @throws when it cannot be written */
  write(text: string): void;
}

/** The properties of a session that its revocation needs. */
export interface RevocableSession {
  /** A digest of its token. */
  readonly digest: string;
  /** Equal for sessions with the same keys; reveals nothing about them. */
  readonly account: string;
  /** Seconds since 1970. */
  readonly expiresAt: number;
  /** Seconds since 1970; null where its token does not contain it. */
  readonly issuedAt: number | null;
}

/** The bound up to which all sessions of an account are revoked; both in seconds since 1970. */
interface Bound {
  /** For sessions with a time of issue; null: none of them. */
  readonly issuedAt: number | null;
  /** For the others, and the end of the bound itself. */
  readonly expiresAt: number;
}

/** Thrown at the start for a file with other content. */
export class RevocationFileError extends Error {
  override readonly name = "RevocationFileError";
}

/**
 * Sessions that ended before their time, stored until they would have expired. Only sessions that this role sealed are
 * added, so a client without an account cannot fill it. Nor can one account: beyond {@link MAX_PER_ACCOUNT} its sessions
 * become one bound. The bound is a time of issue, so a later login is valid whatever the lifetime of sessions is then.
 */
export class RevokedSessions {
  readonly #listed = new Map<string, Omit<RevocableSession, "digest">>();
  /** By account, once its revoked sessions are no longer listed. */
  readonly #upTo = new Map<string, Bound>();
  readonly #file: RevocationFile | null;
  readonly #log: RequestLog;
  readonly #now: () => number;
  readonly #later: (run: () => void, ms: number) => void;
  /** The scheduled retry of a failed write and its delay; null: everything is written. */
  #retry: { readonly ms: number } | null = null;

  /**
   * @param file null: revocations last as long as this process
   * @param now ms since 1970
   * @param later calls `run` after so many ms, unless the process ends before
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

  /** The number of entries. */
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
   * Revokes sessions, durably where there is a file. When the write fails they are revoked in this process and written
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

  /** Writes everything, and schedules a retry when that fails. */
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
      // Already written; a later failure has a timer of its own.
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
    const content = parseRevocationText(text);
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
