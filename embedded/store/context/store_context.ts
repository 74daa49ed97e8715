import type { ChangeOrigin, StoreReports } from "@/embedded/store/changes.ts";
import type { DiskSpace } from "@/embedded/store/disk_space.ts";
import type { Documents } from "@/embedded/store/documents.ts";
import type { Uploads } from "@/embedded/store/entry_pages.ts";
import type { Statements } from "@/embedded/store/statements.ts";
import type { Accounts } from "@/embedded/store/stored_accounts.ts";
import type { Buckets, SoftQuotas } from "@/embedded/store/stored_buckets.ts";
import type { Objects } from "@/embedded/store/stored_objects.ts";
import type { ChangeWriter, WriterClient } from "@/embedded/store/writer/writer_client.ts";
import type { TakeReader } from "@/lib/std/body_reader.ts";
import { REQUEST_MARK_HEADER, type RequestMarks } from "@/lib/std/request_mark.ts";
import type { Logins } from "./logins.ts";

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

/** How often the maintenance runs, in ms. */
const INTERVAL_MS = 60 * 60 * 1000;

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
    this.#timer = setInterval(() => this.runSoon(), INTERVAL_MS);
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
        await this.writer.change("expireUsage", { beforeHour: Math.floor(this.now() / INTERVAL_MS) - USAGE_HOURS });
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

const MS_PER_HOUR = 60 * 60 * 1000;

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
