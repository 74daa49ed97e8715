import { sleep } from "@/lib/std/timing.ts";
import type { RedisCommands } from "./redis_commands.ts";
import type { SealedEvents } from "./sealed_events.ts";
import { appendEntry } from "./stream.ts";

/** Events that wait to be sent; beyond that the oldest are dropped. */
export const MAX_WAITING_EVENTS = 10_000;
const MAX_EVENTS_PER_ENTRY = 32;
/** From a failed attempt to the next, ms. */
const RETRY_MS = 1000;
/** How long the end of the process waits for events that are being sent, ms. */
const CLOSE_TIMEOUT_MS = 500;

/** Sends events to the other processes in the background. Nothing waits for it, and it never fails. */
export class EventPublisher {
  readonly #redis: RedisCommands;
  readonly #stream: string;
  readonly #events: SealedEvents;
  readonly #sleep: typeof sleep;
  readonly #stop = new AbortController();
  readonly #waiting: unknown[] = [];
  #sending: Promise<void> | null = null;

  constructor(redis: RedisCommands, stream: string, events: SealedEvents, wait = sleep) {
    this.#redis = redis;
    this.#stream = stream;
    this.#events = events;
    this.#sleep = wait;
  }

  publish(event: unknown): void {
    if (this.#stop.signal.aborted) return;
    if (this.#waiting.length >= MAX_WAITING_EVENTS) this.#waiting.shift();
    this.#waiting.push(event);
    this.#sending ??= this.#send();
  }

  /** Ends it, once the waiting events are sent or half a second has passed. */
  async close(): Promise<void> {
    await Promise.race([this.#sending, sleep(CLOSE_TIMEOUT_MS, this.#stop.signal)]);
    this.#stop.abort();
  }

  async #send(): Promise<void> {
    // Further events of the same request come along.
    await Promise.resolve();
    const { signal } = this.#stop;
    let entry: string | null = null;
    while (!signal.aborted && (entry !== null || this.#waiting.length > 0)) {
      try {
        // An entry whose reply was lost is sent again as it is, so that it is applied once.
        entry ??= this.#nextEntry();
        await appendEntry(this.#redis, this.#stream, entry);
        entry = null;
      } catch {
        // The connection reports by itself when it is lost and when it is back.
        await this.#sleep(RETRY_MS, signal);
      }
    }
    this.#sending = null;
  }

  /** Removes events from the list once they are sealed: while the key cannot be read, sealing them throws. */
  #nextEntry(): string {
    const entry = this.#events.seal(this.#waiting.slice(0, MAX_EVENTS_PER_ENTRY));
    this.#waiting.splice(0, MAX_EVENTS_PER_ENTRY);
    return entry;
  }
}
