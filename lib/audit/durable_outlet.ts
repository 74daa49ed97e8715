import { errorReason } from "@/lib/std/error_reason.ts";
import type { DurableSink, SealedRecord } from "./sink.ts";

/** How long after a failure the next try is, ms. */
const RETRY_MS = 1000;

interface OutletOptions {
  /** Records that wait while the sink fails. */
  readonly maxWaiting: number;
  /** Receives lines for the operator. */
  readonly warn: (line: string) => void;
  /** Called when the sink takes records again. */
  readonly onRecovery: () => void;
}

/** A sink on a disk with the records that it has not taken yet. */
export class DurableOutlet {
  readonly sink: DurableSink;
  readonly #options: OutletOptions;
  #waiting: SealedRecord[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<void> | null = null;
  #isFailing = false;
  #isClosed = false;
  #written = 0;

  constructor(sink: DurableSink, options: OutletOptions) {
    this.sink = sink;
    this.#options = options;
  }

  /** Whether the last try failed. */
  get isFailing(): boolean {
    return this.#isFailing;
  }

  /** Whether it keeps no more. */
  get isFull(): boolean {
    return this.#waiting.length >= this.#options.maxWaiting;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /** Records that the sink has taken since the start. */
  get written(): number {
    return this.#written;
  }

  /** Whether the sink has a record that was passed to {@link add}. */
  has(record: SealedRecord): boolean {
    const [first] = this.#waiting;
    return first === undefined || record.number < first.number;
  }

  /** Takes records. They are written now, or where the sink fails, by a later try. Never throws. */
  async add(records: readonly SealedRecord[]): Promise<void> {
    this.#waiting.push(...records);
    if (!this.#isFailing) await this.#write();
  }

  /** The last try. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#write();
    this.sink.close();
  }

  #write(): Promise<void> {
    if (this.#waiting.length === 0) return Promise.resolve();
    return this.#writing ??= this.#writeAll();
  }

  async #writeAll(): Promise<void> {
    try {
      while (this.#waiting.length > 0) await this.#writeBatch();
    } catch (error) {
      this.#fail(error);
    } finally {
      // At once: what is added from here on needs another run.
      this.#writing = null;
    }
  }

  async #writeBatch(): Promise<void> {
    const batch = this.#waiting.slice();
    await this.sink.append(batch);
    this.#waiting = this.#waiting.slice(batch.length);
    this.#written += batch.length;
    if (!this.#isFailing) return;
    this.#isFailing = false;
    this.#options.warn(`The audit trail is written to ${this.sink.name} again`);
    this.#options.onRecovery();
  }

  #fail(error: unknown): void {
    if (!this.#isFailing) {
      this.#options.warn(
        `The audit trail cannot be written to ${this.sink.name} (${errorReason(error)}): records wait in memory`,
      );
    }
    this.#isFailing = true;
    clearTimeout(this.#timer);
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#write(), RETRY_MS);
  }
}
