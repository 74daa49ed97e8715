import { z } from "zod";
import type { RequestLog } from "@/lib/http/app.ts";
import { errorName } from "@/lib/http/errors.ts";
import { endsWithin } from "@/lib/std/body_reader.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";

/** Listed sessions per account; beyond that number all sessions issued up to the newest of them are revoked. */
export const MAX_PER_ACCOUNT = 32;
/** Listed sessions in all; beyond that number each account is reduced to one bound. */
export const MAX_LISTED = 10_000;
/** How long a logout waits until the other processes can know of it, ms. */
const SHARE_TIMEOUT_MS = 1000;

/** The file that stores revoked sessions. */
export interface RevocationFile {
  /** The text written last; null before the first write. */
  read(): string | null;
  /** Returns once the text is durable. @throws when it cannot be written */
  write(text: string): void;
}

/** A text that processes share until it ends. */
interface SharedText {
  readonly text: string;
  /** Seconds since 1970. */
  readonly expiresAt: number;
}

/** The texts that processes share. */
export interface SharedTexts {
  /** All of them. @throws while they cannot be read */
  load(): Promise<readonly string[]>;
  /**
   * Adds texts, removes others, and sends the added ones to the other processes.
   *
   * @throws when that is not sure
   */
  write(added: readonly SharedText[], removed: readonly string[]): Promise<void>;
}

interface RevocationOptions {
  /** Calls `run` after so many ms, unless the process ends before. */
  readonly later?: (run: () => void, ms: number) => void;
  /** Null: no other process serves the same sessions. */
  readonly shared?: SharedTexts | null;
}

/** The properties of a session that its revocation needs. */
export interface RevocableSession {
  /** A digest of its token. */
  readonly digest: string;
  /** Equal for sessions with the same keys; reveals nothing about them. */
  readonly account: string;
  /** Equal for sessions of one account, whatever their keys; absent where a token does not name it. */
  readonly owner?: string;
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

/** The rows that a change added and removed, by text. */
interface Change {
  readonly added: ReadonlyMap<string, RevocationRow>;
  readonly removed: readonly string[];
}

/** Thrown at the start for a file with other content. */
export class RevocationFileError extends Error {
  override readonly name = "RevocationFileError";
}

/**
 * Sessions that ended before their time, stored until they would have expired. Only sessions that this role sealed are
 * added, so a client without an account cannot fill it. Nor can one account: beyond {@link MAX_PER_ACCOUNT} its sessions
 * become one bound. The bound is a time of issue, so a later login is valid whatever the lifetime of sessions is then.
 *
 * Processes that share their rows revoke the same sessions: rows are only added, and a bound replaces nothing but what it
 * covers, so they agree whatever the order in which rows arrive.
 */
export class RevokedSessions {
  readonly #listed = new Map<string, Omit<RevocableSession, "digest">>();
  /** Bounds by account. An account has one once its revoked sessions are no longer listed. */
  readonly #upTo = new Map<string, Bound>();
  readonly #shared: SharedTexts | null;
  readonly #writing: RetrySchedule;
  readonly #sharing: RetrySchedule;
  /** How many changes could not be shared when they happened. */
  #unshared = 0;

  /**
   * @param file null: revocations last as long as this process
   * @param now ms since 1970
   * @throws RevocationFileError
   */
  constructor(
    private readonly file: RevocationFile | null,
    log: RequestLog,
    private readonly now: () => number,
    { later = unlessEnded, shared = null }: RevocationOptions = {},
  ) {
    this.#shared = shared;
    this.#writing = new RetrySchedule({
      again: () => {
        this.#dropExpired();
        this.#write();
      },
      onFailure: (error) => log.write({ level: "error", message: UNWRITTEN(errorName(error)) }),
      onRecovery: () => log.write({ level: "info", message: "The revoked sessions are in the data folder again." }),
      later,
    });
    this.#sharing = new RetrySchedule({
      again: () => void this.synchronize(),
      onFailure: (error) => log.write({ level: "error", message: UNSHARED(errorName(error)) }),
      onRecovery: () =>
        log.write({ level: "info", message: "The revoked sessions are shared with all replicas again." }),
      later,
    });
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
    if (this.#upTo.size === 0) return false;
    return [session.account, session.owner].some((account) => {
      const bound = account === undefined ? undefined : this.#upTo.get(account);
      return bound !== undefined && isCovered(session, bound);
    });
  }

  /**
   * Revokes all sessions of an account that were issued until now.
   *
   * @param owners the account as its sessions name it, under each key that may have sealed them
   * @param expiresAt when the last of them expires, seconds since 1970
   */
  async endAccount(owners: readonly string[], expiresAt: number): Promise<void> {
    this.#dropExpired();
    const issuedAt = this.now() / 1000;
    const change = this.#change(owners, () => {
      for (const owner of owners) this.#extend(owner, { issuedAt, expiresAt });
    });
    this.#write();
    if (this.#shared) await endsWithin(SHARE_TIMEOUT_MS, this.#share(change));
  }

  /**
   * Revokes sessions, in this process before it returns, and durably where there is a file. When the write fails they are
   * written later: by the next call, even one with nothing new, or by a timer.
   *
   * @returns resolves when the other processes can know of it, or after a second; it never rejects
   */
  async add(sessions: readonly RevocableSession[]): Promise<void> {
    if (sessions.length === 0) return;
    const added = sessions.filter((session) => !this.#isSettled(session));
    this.#dropExpired();
    if (added.length === 0) {
      if (this.#writing.isPending) this.#write();
      if (this.#sharing.isPending) await endsWithin(SHARE_TIMEOUT_MS, this.synchronize());
      return;
    }
    const change = this.#change(added.map(({ account }) => account), () => {
      for (const { digest, account, expiresAt, issuedAt } of added) {
        this.#listed.set(digest, { account, expiresAt, issuedAt });
      }
    });
    this.#write();
    if (this.#shared) await endsWithin(SHARE_TIMEOUT_MS, this.#share(change));
  }

  /**
   * Applies rows that another process has written.
   *
   * @param texts rows as this class writes them; others are ignored
   */
  apply(texts: readonly string[]): void {
    const rows = parseRevocationRows(texts);
    const change = this.#change([...rows.values()].map(accountOf), () => this.#merge(rows.values()));
    if (change === null) return void this.#share(null);
    // The bound of an account with too many sessions follows here, but not in the process that sent the rows.
    const added = new Map([...change.added].filter(([text]) => !rows.has(text)));
    if (added.size > 0) void this.#share({ ...change, added });
  }

  /**
   * Exchanges all rows with the shared ones: at the start, and after each time that they could not be reached. When that
   * fails it is tried again later.
   */
  async synchronize(): Promise<void> {
    if (!this.#shared) return;
    const unshared = this.#unshared;
    try {
      const stored = parseRevocationRows(await this.#shared.load());
      this.#dropExpired();
      this.#merge(stored.values());
      this.#foldMany();
      const own = this.#rows(() => true);
      const added = new Map([...own].filter(([text]) => !stored.has(text)));
      // Rows that ended are left to the store: the clock of this process may be ahead.
      const now = this.now() / 1000;
      const superseded = [...stored].filter(([text, row]) => endOf(row) > now && !own.has(text));
      await this.#send({ added, removed: superseded.map(([text]) => text) });
      // A later change that could not be shared was not part of it.
      if (unshared === this.#unshared) this.#sharing.succeeded();
    } catch (error) {
      this.#sharing.failed(error);
    }
  }

  /** Shares a change; null: everything. */
  async #share(change: Change | null): Promise<void> {
    if (change === null || this.#sharing.isPending) {
      this.#unshared++;
      return await this.synchronize();
    }
    try {
      await this.#send(change);
    } catch (error) {
      this.#unshared++;
      this.#sharing.failed(error);
    }
  }

  async #send({ added, removed }: Change): Promise<void> {
    if (added.size === 0 && removed.length === 0) return;
    await this.#shared?.write([...added].map(([text, row]) => ({ text, expiresAt: endOf(row) })), removed);
  }

  /**
   * Makes a change to the rows of these accounts and bounds their number.
   *
   * @returns null when it changed rows of all accounts
   */
  #change(accounts: readonly string[], make: () => void): Change | null {
    const touched = new Set(accounts);
    const before = this.#shared ? this.#rows((account) => touched.has(account)) : new Map<string, RevocationRow>();
    make();
    if (this.#foldMany()) return null;
    if (!this.#shared) return { added: new Map(), removed: [] };
    const after = this.#rows((account) => touched.has(account));
    return {
      added: new Map([...after].filter(([text]) => !before.has(text))),
      removed: [...before.keys()].filter((text) => !after.has(text)),
    };
  }

  /** The bound of an account is the latest of all, and what it covers to its end is not listed. */
  #merge(rows: Iterable<RevocationRow>): void {
    const now = this.now() / 1000;
    for (const row of rows) {
      if (endOf(row) <= now) continue;
      if (row.length === 3) {
        const [account, expiresAt, issuedAt] = row;
        this.#extend(account, { expiresAt, issuedAt });
      } else {
        const [digest, account, expiresAt, issuedAt] = row;
        this.#listed.set(digest, { account, expiresAt, issuedAt });
      }
    }
    this.#unlist((session) => this.#isBounded(session));
  }

  /** Replaces rows of sessions by bounds where there are too many. @returns whether those of all accounts */
  #foldMany(): boolean {
    const isFull = this.#listed.size > MAX_LISTED;
    const counts = new Map<string, number>();
    for (const { account } of this.#listed.values()) counts.set(account, (counts.get(account) ?? 0) + 1);
    const isFolded = (account: string) => isFull || counts.get(account)! > MAX_PER_ACCOUNT;
    if (!isFull && !counts.values().some((count) => count > MAX_PER_ACCOUNT)) return false;
    for (const { account, ...bound } of this.#listed.values()) if (isFolded(account)) this.#extend(account, bound);
    this.#unlist(({ account }) => isFolded(account));
    return isFull;
  }

  #extend(account: string, { issuedAt, expiresAt }: Bound): void {
    const bound = this.#upTo.get(account) ?? { issuedAt: null, expiresAt: -Infinity };
    this.#upTo.set(account, {
      issuedAt: issuedAt === null ? bound.issuedAt : Math.max(issuedAt, bound.issuedAt ?? -Infinity),
      expiresAt: Math.max(expiresAt, bound.expiresAt),
    });
  }

  /** Whether a session stays revoked until it expires. A bound may end before a session that it covers. */
  #isSettled(session: RevocableSession): boolean {
    return this.#listed.has(session.digest) || this.#isBounded(session);
  }

  #isBounded(session: Omit<RevocableSession, "digest">): boolean {
    const bound = this.#upTo.size > 0 ? this.#upTo.get(session.account) : undefined;
    return bound !== undefined && isCovered(session, bound) && session.expiresAt <= bound.expiresAt;
  }

  #unlist(matches: (session: Omit<RevocableSession, "digest">) => boolean): void {
    for (const [digest, session] of this.#listed) if (matches(session)) this.#listed.delete(digest);
  }

  #dropExpired(): void {
    const now = this.now() / 1000;
    this.#unlist(({ expiresAt }) => expiresAt <= now);
    for (const [account, { expiresAt }] of this.#upTo) if (expiresAt <= now) this.#upTo.delete(account);
  }

  /** Writes everything, and schedules a retry when that fails. */
  #write(): void {
    if (!this.file) return;
    try {
      this.file.write(revocationText(this.#content()));
    } catch (error) {
      return this.#writing.failed(error);
    }
    this.#writing.succeeded();
  }

  /** Rows by their text. */
  #rows(ofAccount: (account: string) => boolean): Map<string, RevocationRow> {
    const { listed, upTo } = this.#content(ofAccount);
    return new Map([...upTo, ...listed].map((row) => [revocationRowText(row), row]));
  }

  #content(ofAccount: (account: string) => boolean = () => true): RevocationContent {
    const listed = [...this.#listed].filter(([, { account }]) => ofAccount(account));
    const upTo = [...this.#upTo].filter(([account]) => ofAccount(account));
    return {
      listed: listed.map(([digest, { account, expiresAt, issuedAt }]) => [digest, account, expiresAt, issuedAt]),
      upTo: upTo.map(([account, { expiresAt, issuedAt }]) => [account, expiresAt, issuedAt]),
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

const UNWRITTEN = (reason: string) =>
  `A session was revoked, but the data folder could not be written (${reason}): until it can, what ` +
  "is revoked is known to this process only. Make the folder writable, or make room.";

const UNSHARED = (reason: string) =>
  `Revoked sessions cannot be shared with the other replicas (${reason}): until they can, each replica knows those that ` +
  "it revoked itself and those that it knew before. Look at REDIS_URL and its server.";

function isCovered(session: Omit<RevocableSession, "digest">, bound: Bound): boolean {
  if (session.issuedAt === null) return session.expiresAt <= bound.expiresAt;
  return bound.issuedAt !== null && session.issuedAt <= bound.issuedAt;
}

function unlessEnded(run: () => void, ms: number): void {
  Deno.unrefTimer(setTimeout(run, ms));
}

/** Delay before a failed write is retried, ms: doubled each time, up to MAX_RETRY_MS. */
export const RETRY_MS = 1000;
export const MAX_RETRY_MS = 60_000;

interface RetryOptions {
  /** Attempts the write again; it reports to the schedule how that went. */
  readonly again: () => void;
  /** Called once when writes start to fail. */
  readonly onFailure: (error: unknown) => void;
  /** Called once when they succeed again. */
  readonly onRecovery: () => void;
  /** Calls `run` after so many ms, unless the process ends before. */
  readonly later: (run: () => void, ms: number) => void;
}

/** When a failed write is attempted again, unless it succeeds before for another reason. */
class RetrySchedule {
  /** The next attempt; null: everything is written. */
  #next: { readonly ms: number; isDue: boolean } | null = null;

  constructor(private readonly options: RetryOptions) {
  }

  /** Whether something is not written yet. */
  get isPending(): boolean {
    return this.#next !== null;
  }

  failed(error: unknown): void {
    const last = this.#next;
    if (last && !last.isDue) return;
    if (!last) this.options.onFailure(error);
    const next = { ms: last ? Math.min(2 * last.ms, MAX_RETRY_MS) : RETRY_MS, isDue: false };
    this.#next = next;
    this.options.later(() => {
      // Already written; a later failure has another timer.
      if (this.#next !== next || next.isDue) return;
      next.isDue = true;
      this.options.again();
    }, next.ms);
  }

  succeeded(): void {
    if (!this.#next) return;
    this.#next = null;
    this.options.onRecovery();
  }
}

const VERSION = 2;
const DIGEST = z.string();
const ACCOUNT = z.string();
/** Seconds since 1970. */
const SECONDS = z.number();

/** A revoked session: its digest and account, its end and its time of issue, which is null where unknown. */
const LISTED = z.tuple([DIGEST, ACCOUNT, SECONDS, SECONDS.nullable()]);
/** An account once its revoked sessions are no longer listed. */
const UP_TO = z.tuple([ACCOUNT, SECONDS, SECONDS.nullable()]);

const CONTENT = z.object({ version: z.literal(VERSION), listed: z.array(LISTED), upTo: z.array(UP_TO) });

/** The version before, which had no times of issue. */
const CONTENT_1 = z.object({
  version: z.literal(1),
  listed: z.array(z.tuple([DIGEST, ACCOUNT, SECONDS]).transform((row) => [...row, null] as const)),
  upTo: z.array(z.tuple([ACCOUNT, SECONDS]).transform((row) => [...row, null] as const)),
});

const ANY_CONTENT = z.union([CONTENT, CONTENT_1]);

/** The content of a file of revoked sessions. */
type RevocationContent = Omit<z.output<typeof ANY_CONTENT>, "version">;

/** A row of that content: of a session, or of an account. */
type RevocationRow = RevocationContent["listed"][number] | RevocationContent["upTo"][number];

/** The text of a file of revoked sessions. */
export function revocationText(content: RevocationContent): string {
  // Last, since content that was parsed has the version of its text.
  return JSON.stringify({ ...content, version: VERSION });
}

/** Parses such a text, of this version or the one before; null for any other text. */
export function parseRevocationText(text: string): RevocationContent | null {
  return ANY_CONTENT.safeParse(parsedJson(text)).data ?? null;
}

/** The text of one row, equal for equal rows. */
function revocationRowText(row: RevocationRow): string {
  return JSON.stringify(row);
}

/** The rows among such texts, by text and those of accounts first; other texts are left out. */
export function parseRevocationRows(texts: readonly string[]): Map<string, RevocationRow> {
  const rows = texts.flatMap((text): [string, RevocationRow][] => {
    const value = parsedJson(text);
    const row = UP_TO.safeParse(value).data ?? LISTED.safeParse(value).data;
    return row ? [[text, row]] : [];
  });
  return new Map(rows.sort(([, a], [, b]) => a.length - b.length));
}

/** The account of a row, or of its session. */
function accountOf(row: RevocationRow): string {
  return row.length === 3 ? row[0] : row[1];
}

/** When a row ends, seconds since 1970. */
function endOf(row: RevocationRow): number {
  return row.length === 3 ? row[1] : row[2];
}
