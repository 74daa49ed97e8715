import { HttpError } from "@/lib/http/errors.ts";
import type { BodyReader } from "@/lib/std/body_reader.ts";
import type { TaskClock } from "./task_clock.ts";

/** Shortest time between two events, ms. */
const EVENT_MS = 250;
/** After so long without an event a comment shows that the connection stands, ms. */
const COMMENT_MS = 15_000;
/** Longest time of one stream, ms; its client opens another one. */
const TOTAL_MS = 600_000;

/** What the owner of a task is shown. */
export interface TaskView {
  readonly body: Readonly<Record<string, unknown>>;
  /** Whether it has ended, so that it does not change. */
  readonly isOver: boolean;
}

interface TaskEventsOptions {
  readonly clock: TaskClock;
  /** Reads the task again. @throws HttpError */
  readonly view: () => Promise<TaskView>;
  /** Ends the stream. */
  readonly signal: AbortSignal;
}

/**
 * The progress of a task as server-sent events: one named `progress` whenever it changes, at the end one named `end`. The
 * task is read when the consumer reads, so a slow one skips states and nothing is buffered.
 */
export class TaskEvents implements BodyReader {
  readonly #options: TaskEventsOptions;
  readonly #cancel = new AbortController();
  readonly #signal: AbortSignal;
  readonly #end: number;
  #sentAt = -Infinity;
  #last = "";
  #isOver = false;

  constructor(options: TaskEventsOptions) {
    this.#options = options;
    this.#end = options.clock.now() + TOTAL_MS;
    this.#signal = AbortSignal.any([this.#cancel.signal, options.signal]);
  }

  async read(): Promise<Uint8Array<ArrayBuffer> | null> {
    const { clock } = this.#options;
    while (!this.#isOver && clock.now() < this.#end) {
      const text = await this.#next();
      if (this.#signal.aborted) return null;
      if (text !== null) {
        this.#sentAt = clock.now();
        return new TextEncoder().encode(text);
      }
      if (!this.#isOver) await clock.sleep(EVENT_MS, this.#signal);
    }
    return null;
  }

  cancel(): void {
    this.#cancel.abort();
  }

  /** The next event or comment; null where there is none now. */
  async #next(): Promise<string | null> {
    const { clock } = this.#options;
    const wait = this.#sentAt + EVENT_MS - clock.now();
    if (wait > 0) await clock.sleep(wait, this.#signal);
    if (this.#signal.aborted) return null;
    const view = await this.#view();
    if (view) {
      const data = JSON.stringify(view.body);
      this.#isOver = view.isOver;
      if (view.isOver) return `event: end\ndata: ${data}\n\n`;
      if (data !== this.#last) {
        this.#last = data;
        return `event: progress\ndata: ${data}\n\n`;
      }
    }
    return clock.now() - this.#sentAt >= COMMENT_MS ? ": still here\n\n" : null;
  }

  /** Null while the task store is not reachable, and when the task is gone, which ends the stream. */
  async #view(): Promise<TaskView | null> {
    try {
      return await this.#options.view();
    } catch (error) {
      if (!(error instanceof HttpError)) throw error;
      if (error.status < 500) this.#isOver = true;
      return null;
    }
  }
}
