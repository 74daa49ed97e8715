import { atMostEvery } from "@/lib/std/at_most_every.ts";
import { endsWithin } from "@/lib/std/ends_within.ts";
import { errorReason } from "@/lib/std/error_reason.ts";
import { sleep } from "@/lib/std/sleep.ts";
import { charactersOf, type Forwarder, type SealedRecord } from "./sink.ts";

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;
/** How often a failure is reported, ms. */
const REPORT_MS = 600_000;

interface QueueOptions {
  /** In metrics and messages. */
  readonly name: string;
  /** Records that wait at most, and their lines, characters; further records are dropped. */
  readonly maxRecords: number;
  readonly maxCharacters: number;
  /** Records that are sent at once, at most. */
  readonly batchRecords: number;
  /** How long the first record of a batch waits for others, ms; 0: it is sent at once. */
  readonly lingerMs: number;
  /** Sends records, in their order. @throws what kept it from that; they are passed again */
  readonly send: (records: readonly SealedRecord[], signal: AbortSignal) => Promise<void>;
  /** Receives lines for the operator. */
  readonly warn: (line: string) => void;
}

/** Sends records to a server in their order, tries again until it takes them, and drops new ones where the queue is full. */
export class ForwardQueue implements Forwarder {
  readonly name: string;
  readonly #options: QueueOptions;
  readonly #mayReport = atMostEvery(REPORT_MS);
  readonly #stop = new AbortController();
  #waiting: SealedRecord[] = [];
  #characters = 0;
  #sent = 0;
  #lost = 0;
  #running: Promise<void> | null = null;
  /** Ends the wait for further records of a batch. */
  #hurry = new AbortController();
  #isClosing = false;
  #isFailing = false;

  constructor(options: QueueOptions) {
    this.name = options.name;
    this.#options = options;
  }

  get sent(): number {
    return this.#sent;
  }

  get lost(): number {
    return this.#lost;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  get isFailing(): boolean {
    return this.#isFailing;
  }

  get isFull(): boolean {
    const { maxRecords, maxCharacters } = this.#options;
    return this.#waiting.length >= maxRecords || this.#characters >= maxCharacters;
  }

  offer(record: SealedRecord): void {
    if (this.isFull || this.#isClosing) {
      this.#lost++;
      if (this.#mayReport()) {
        this.#options.warn(`The audit trail: records for ${this.name} are dropped, since too many wait`);
      }
      return;
    }
    this.#waiting.push(record);
    this.#characters += record.line.length;
    if (this.#waiting.length >= this.#options.batchRecords) this.#hurry.abort();
    this.#running ??= this.#run();
  }

  async close(ms: number): Promise<void> {
    this.#isClosing = true;
    this.#hurry.abort();
    if (this.#running === null) return;
    await endsWithin(ms, this.#running);
    this.#stop.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { batchRecords, lingerMs, send } = this.#options;
    const { signal } = this.#stop;
    let retryMs = FIRST_RETRY_MS;
    while (this.#waiting.length > 0 && !signal.aborted) {
      if (lingerMs > 0 && this.#waiting.length < batchRecords && !this.#isClosing) {
        await sleep(lingerMs, this.#hurry.signal);
      }
      if (!this.#isClosing) this.#hurry = new AbortController();
      const batch = this.#waiting.slice(0, batchRecords);
      try {
        await send(batch, signal);
        this.#waiting = this.#waiting.slice(batch.length);
        this.#characters -= charactersOf(batch);
        this.#sent += batch.length;
        retryMs = FIRST_RETRY_MS;
        this.#isFailing = false;
      } catch (error) {
        if (signal.aborted) break;
        this.#isFailing = true;
        if (this.#mayReport()) {
          this.#options.warn(
            `The audit trail cannot be sent to ${this.name} (${errorReason(error)}): it is tried again`,
          );
        }
        await sleep(retryMs, signal);
        retryMs = Math.min(2 * retryMs, LONGEST_RETRY_MS);
      }
    }
    this.#running = null;
  }
}
