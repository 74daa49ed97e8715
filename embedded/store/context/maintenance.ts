import type { SoftQuotas } from "@/embedded/store/quotas.ts";
import type { WriterClient } from "@/embedded/store/writer/writer_client.ts";

/** How long the usage by hour is retained: 180 days (management API, chargeback). */
export const USAGE_HOURS = 180 * 24;

/** How often the maintenance runs, in ms. */
const INTERVAL_MS = 60 * 60 * 1000;

/**
 * Removes what settings allow to remove: abandoned uploads in parts, expired old versions, deletion records. It
 * removes a little in each commit, so that other changes need not wait. Then it checks the soft quotas.
 */
export class Maintenance {
  readonly #writer: WriterClient;
  readonly #softQuotas: SoftQuotas;
  readonly #now: () => number;
  #timer: ReturnType<typeof setInterval> | undefined;
  #running: Promise<void> | null = null;
  #isRequested = false;
  #isStopped = false;

  /** `now` returns milliseconds since 1970. */
  constructor(writer: WriterClient, softQuotas: SoftQuotas, now: () => number) {
    this.#writer = writer;
    this.#softQuotas = softQuotas;
    this.#now = now;
  }

  /** Removes abandoned uploads, then runs beside the requests, now and once an hour. */
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
        await this.#repeat(async () => (await this.#writer.change("pruneVersions", { atMs: this.#now() })).pruned);
        await this.#writer.change("expireUsage", { beforeHour: Math.floor(this.#now() / INTERVAL_MS) - USAGE_HOURS });
        await this.#repeat(async () => (await this.#writer.change("clearDeletionRecords", {})).cleared);
        if (!this.#isStopped) this.#softQuotas.check();
      }
    } catch (error) {
      console.error(`embedded store: the maintenance failed: ${error instanceof Error ? error.message : error}`);
    } finally {
      this.#running = null;
    }
  }

  #expireUploads(): Promise<void> {
    return this.#repeat(async () => (await this.#writer.change("expireUploads", { atMs: this.#now() })).expired);
  }

  async #repeat(removeSome: () => Promise<number>): Promise<void> {
    while (!this.#isStopped && await removeSome() > 0);
  }
}
