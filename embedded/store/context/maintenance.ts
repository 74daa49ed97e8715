import type { SoftQuotas } from "@/embedded/store/quotas.ts";
import type { WriterClient } from "@/embedded/store/writer/writer_client.ts";

/** How long it is known what was done by hour: 180 days (management API, chargeback). */
export const USAGE_HOURS = 180 * 24;

/** How often the store looks for what its settings let go, in ms. */
const INTERVAL_MS = 60 * 60 * 1000;

/**
 * Removes what nobody asked to keep: uploads in parts that were left behind, old versions whose days are over, and
 * deletion records that may go. It does a little in each commit, so that others are not kept waiting. Then it has a look at
 * the soft quotas.
 */
export class Maintenance {
  readonly #writer: WriterClient;
  readonly #softQuotas: SoftQuotas;
  readonly #now: () => number;
  #timer: ReturnType<typeof setInterval> | undefined;
  #running: Promise<void> | null = null;
  #isRequested = false;
  #isStopped = false;

  /** `now` gives milliseconds since 1970. */
  constructor(writer: WriterClient, softQuotas: SoftQuotas, now: () => number) {
    this.#writer = writer;
    this.#softQuotas = softQuotas;
    this.#now = now;
  }

  /** Gives up left uploads, then goes on beside the requests, now and once an hour. */
  async start(): Promise<void> {
    await this.#expireUploads();
    this.#timer = setInterval(() => this.runSoon(), INTERVAL_MS);
    this.runSoon();
  }

  /** Goes round once more: settings have changed, and may let something go. */
  runSoon(): void {
    this.#isRequested = true;
    this.#running ??= this.#run();
  }

  /** Lets the commit under way end; what is left waits for the next start. */
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
