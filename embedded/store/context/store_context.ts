import type { ChangeOrigin, StoreReports } from "@/embedded/store/changes.ts";
import type { DiskSpace } from "@/embedded/store/disk_space.ts";
import { consoleSecurity, type Documents } from "@/embedded/store/documents.ts";
import type { Uploads } from "@/embedded/store/entry_pages.ts";
import type { Statements } from "@/embedded/store/statements.ts";
import { isNoSpace } from "@/embedded/store/store_error.ts";
import { type Accounts, isEnabled, isLastAdministrator, type User } from "@/embedded/store/stored_accounts.ts";
import type { Buckets, SoftQuotas } from "@/embedded/store/stored_buckets.ts";
import type { Objects } from "@/embedded/store/stored_objects.ts";
import type { ChangeWriter, WriterClient } from "@/embedded/store/writer/writer_client.ts";
import type { TakeReader } from "@/lib/std/body_reader.ts";
import { REQUEST_MARK_HEADER, type RequestMarks } from "@/lib/std/store_addresses.ts";
import { sleep } from "@/lib/std/timing.ts";

/** The parts of the store that both protocols use. */
export interface StoreContext {
  /** The data folder. */
  readonly folder: string;
  readonly index: Statements;
  readonly accounts: Accounts;
  readonly buckets: Buckets;
  readonly objects: Objects;
  readonly uploads: Uploads;
  readonly documents: Documents;
  readonly reads: ReadCounter;
  readonly logins: Logins;
  /** Records a login that was refused. */
  readonly loginFailed: StoreReports["loginFailed"];
  /** Reads the mark in which the gateway of this process names the client of a request; null: no gateway. */
  readonly marks: Pick<RequestMarks, "read"> | null;
  /** MD5s of publicly known passwords, which no account may get. */
  readonly publicPasswords: readonly string[];
  readonly writer: ChangeWriter;
  /** Whether the disk of the data folder has room. */
  readonly space: DiskSpace;
  /** Reads the bodies of requests. */
  readonly bodyReader: TakeReader;
  /** Runs after a change of settings that may allow removals. */
  readonly maintenance: Maintenance;
  /** The present, in milliseconds since 1970. */
  now(): number;
}

/** The client of a request: from a valid mark of the gateway, else from the connection. */
export function clientOf(
  { marks }: Pick<StoreContext, "marks">,
  headers: Headers,
  connection: { readonly address: string; readonly requestId: string | null },
): Pick<ChangeOrigin, "address" | "requestId" | "isByGateway"> {
  const mark = marks?.read(headers.get(REQUEST_MARK_HEADER)) ?? null;
  return mark
    ? { address: mark.address, requestId: mark.id, isByGateway: mark.isByTask !== true }
    : { ...connection, isByGateway: false };
}

/** The same store, whose changes are recorded as those of an account; an anonymous one has no name. */
export function requestedBy(
  store: StoreContext,
  user: { readonly name: string; readonly tenant: number } | null,
  client: Pick<ChangeOrigin, "address" | "requestId" | "isByGateway">,
): StoreContext {
  const origin = { actor: user?.name ?? null, isSystem: user?.tenant === 0, ...client };
  return { ...store, writer: store.writer.by(origin) };
}

/** How long the usage by hour is retained: 180 days (management API, chargeback). */
export const USAGE_HOURS = 180 * 24;

const MS_PER_HOUR = 60 * 60 * 1000;

/**
 * Removes what settings allow to remove: abandoned uploads in parts, expired old versions, deletion records. It
 * removes a little in each commit, so that other changes need not wait. Then it checks the soft quotas.
 */
export class Maintenance {
  #timer: ReturnType<typeof setInterval> | undefined;
  #running: Promise<void> | null = null;
  #isRequested = false;
  #isStopped = false;

  /** `now` returns milliseconds since 1970. */
  constructor(
    private readonly writer: WriterClient,
    private readonly softQuotas: SoftQuotas,
    private readonly now: () => number,
  ) {}

  /** Removes abandoned uploads, then runs in the background, now and once an hour. */
  async start(): Promise<void> {
    await this.#expireUploads();
    this.#timer = setInterval(() => this.runSoon(), MS_PER_HOUR);
    this.runSoon();
  }

  /** Runs again after a change of settings that may allow removals. */
  runSoon(): void {
    this.#isRequested = true;
    this.#running ??= this.#run();
  }

  /** Waits for the commit under way; the rest is left to the next start. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      while (this.#isRequested && !this.#isStopped) {
        this.#isRequested = false;
        await this.#expireUploads();
        await this.#repeat(async () => (await this.writer.change("pruneVersions", { atMs: this.now() })).pruned);
        await this.writer.change("expireUsage", { beforeHour: Math.floor(this.now() / MS_PER_HOUR) - USAGE_HOURS });
        await this.#repeat(async () => (await this.writer.change("clearDeletionRecords", {})).cleared);
        if (!this.#isStopped) this.softQuotas.check();
      }
    } catch (error) {
      console.error(`embedded store: the maintenance failed: ${error instanceof Error ? error.message : error}`);
    } finally {
      this.#running = null;
    }
  }

  #expireUploads(): Promise<void> {
    return this.#repeat(async () => (await this.writer.change("expireUploads", { atMs: this.now() })).expired);
  }

  async #repeat(removeSome: () => Promise<number>): Promise<void> {
    while (!this.#isStopped && await removeSome() > 0);
  }
}

/** How long counted reads wait to be written, in ms: a killed process loses them. */
const FLUSH_MS = 5000;

/** How many buckets' reads wait at most; one more writes them at once. */
const MAX_WAITING = 1000;

/** Counts reads, which have no transaction of their own: they are written in groups. */
export class ReadCounter {
  #waiting = new Map<string, { bucket: number; hour: number; reads: number; bytesOut: number }>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `now` returns milliseconds since 1970. */
  constructor(private readonly writer: WriterClient, private readonly now: () => number) {}

  /** Counts one read whose response has so many bytes. */
  count(bucket: number, bytesOut: number): void {
    const hour = Math.floor(this.now() / MS_PER_HOUR);
    const key = `${bucket} ${hour}`;
    const entry = this.#waiting.get(key) ?? { bucket, hour, reads: 0, bytesOut: 0 };
    entry.reads += 1;
    entry.bytesOut += bytesOut;
    this.#waiting.set(key, entry);
    if (this.#waiting.size > MAX_WAITING) this.#flushLater(0);
    else if (this.#timer === undefined) this.#flushLater(FLUSH_MS);
  }

  /** Writes what was counted so far. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.size === 0) return;
    const reads = [...this.#waiting.values()];
    this.#waiting = new Map();
    await this.writer.change("countReads", { reads });
  }

  #flushLater(delayMs: number): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.flush().catch((error) => {
        console.error(`embedded store: reads were not counted: ${error instanceof Error ? error.message : error}`);
      });
    }, delayMs);
  }
}

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
const MAX_DELAYED = 256;

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
    if (ms <= 0 || this.#waiting >= MAX_DELAYED) return;
    this.#waiting++;
    try {
      await this.wait(ms);
    } finally {
      this.#waiting--;
    }
  }
}
