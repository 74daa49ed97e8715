import type { WriterClient } from "@/embedded/store/writer/writer_client.ts";

const MS_PER_HOUR = 60 * 60 * 1000;

/** How long counted reads wait to be written, in ms: a killed process loses them. */
const FLUSH_MS = 5000;

/** How many buckets' reads wait at most; one more writes them at once. */
const MAX_WAITING = 1000;

/** Counts reads, which have no transaction of their own: they are written in groups. */
export class ReadCounter {
  readonly #writer: WriterClient;
  readonly #now: () => number;
  #waiting = new Map<string, { bucket: number; hour: number; reads: number; bytesOut: number }>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** `now` returns milliseconds since 1970. */
  constructor(writer: WriterClient, now: () => number) {
    this.#writer = writer;
    this.#now = now;
  }

  /** Counts one read whose response has so many bytes. */
  count(bucket: number, bytesOut: number): void {
    const hour = Math.floor(this.#now() / MS_PER_HOUR);
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
    await this.#writer.change("countReads", { reads });
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
