import type { RequestLog } from "@/lib/http/access_log.ts";

/** Revoked sessions of one account that are listed; beyond them, all its sessions up to the newest of them are revoked. */
export const MAX_PER_ACCOUNT = 32;
/** Revoked sessions that are listed in all; beyond them, each account has but its newest. */
export const MAX_LISTED = 10_000;

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
}

/** Raised at the start for a file that holds something else. */
export class RevocationFileError extends Error {
  override readonly name = "RevocationFileError";
}

/**
 * Sessions that ended before their time, remembered until they would have expired. Only sessions that this role sealed
 * come here, so that nobody fills it without an account; and no account fills it, since what goes beyond
 * {@link MAX_PER_ACCOUNT} is one entry.
 */
export class RevokedSessions {
  readonly #listed = new Map<string, Omit<RevocableSession, "digest">>();
  /** By account, the expiry (s since 1970) of the newest of its revoked sessions, where they are no longer listed. */
  readonly #upTo = new Map<string, number>();
  readonly #file: RevocationFile | null;
  readonly #log: RequestLog;
  readonly #now: () => number;

  /**
   * @param file null: what is revoked is known to this process alone
   * @param now ms since 1970
   * @throws RevocationFileError
   */
  constructor(file: RevocationFile | null, log: RequestLog, now: () => number) {
    this.#file = file;
    this.#log = log;
    this.#now = now;
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
    return this.#upTo.size > 0 && session.expiresAt <= (this.#upTo.get(session.account) ?? -Infinity);
  }

  /** Revokes sessions, durably where there is a file; where that fails they are still revoked in this process. */
  add(sessions: readonly RevocableSession[]): void {
    const added = sessions.filter((session) => !this.has(session));
    if (added.length === 0) return;
    this.#dropExpired();
    for (const { digest, account, expiresAt } of added) {
      this.#listed.set(digest, { account, expiresAt });
      const ofAccount = this.#listed.values().filter((one) => one.account === account).reduce((count) => count + 1, 0);
      if (ofAccount > MAX_PER_ACCOUNT) this.#fold((one) => one === account);
    }
    if (this.#listed.size > MAX_LISTED) this.#fold(() => true);
    this.#write();
  }

  #fold(matches: (account: string) => boolean): void {
    for (const [digest, { account, expiresAt }] of this.#listed) {
      if (!matches(account)) continue;
      this.#listed.delete(digest);
      this.#upTo.set(account, Math.max(expiresAt, this.#upTo.get(account) ?? -Infinity));
    }
  }

  #dropExpired(): void {
    const now = this.#now() / 1000;
    for (const [digest, { expiresAt }] of this.#listed) if (expiresAt <= now) this.#listed.delete(digest);
    for (const [account, expiresAt] of this.#upTo) if (expiresAt <= now) this.#upTo.delete(account);
  }

  #write(): void {
    const listed = [...this.#listed].map(([digest, { account, expiresAt }]) => [digest, account, expiresAt]);
    try {
      this.#file?.write(JSON.stringify({ version: VERSION, listed, upTo: [...this.#upTo] }));
    } catch (error) {
      const reason = error instanceof Error ? error.name : typeof error;
      const message = `A session was revoked, but the data folder could not be written (${reason}): it stays revoked ` +
        "until the process ends. Make the folder writable.";
      this.#log.write({ level: "error", message });
    }
  }

  #load(text: string): void {
    const { listed, upTo } = parsed(text);
    for (const [digest, account, expiresAt] of listed) this.#listed.set(digest, { account, expiresAt });
    for (const [account, expiresAt] of upTo) this.#upTo.set(account, expiresAt);
    this.#dropExpired();
  }
}

const VERSION = 1;

interface Content {
  readonly listed: readonly [digest: string, account: string, expiresAt: number][];
  readonly upTo: readonly [account: string, expiresAt: number][];
}

function parsed(text: string): Content {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RevocationFileError("is damaged");
  }
  if (!isContent(value)) throw new RevocationFileError("is damaged, or was written by another version");
  return value;
}

function isContent(value: unknown): value is Content {
  if (typeof value !== "object" || value === null) return false;
  const { version, listed, upTo } = value as Record<string, unknown>;
  return version === VERSION && areRows(listed, ["string", "string", "number"]) && areRows(upTo, ["string", "number"]);
}

function areRows(value: unknown, types: readonly string[]): boolean {
  return Array.isArray(value) &&
    value.every((row) =>
      Array.isArray(row) && row.length === types.length && types.every((type, i) => typeof row[i] === type)
    );
}
