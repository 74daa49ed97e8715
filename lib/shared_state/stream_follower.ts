import type { RequestLog } from "@/lib/http/access_log.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { sleep } from "@/lib/std/timing.ts";
import type { RedisCommands } from "./redis_commands.ts";
import { entriesAfter, firstPosition } from "./stream.ts";

/** Entries of each stream that are read at a time. */
const MAX_READ = 100;
/** How long the server holds a reply back when there is no entry, ms: less than the bound of a command. */
const BLOCK_MS = 2000;
/** From a lost connection to the next attempt, ms. */
const RETRY_MS = 1000;

/** A stream whose entries are applied. */
export interface FollowedStream {
  readonly name: string;
  /** Called before entries are read, whenever the connection begins. Entries of before may come again. */
  readonly connected?: () => Promise<void>;
  /** Called after each reply, every two seconds at least. */
  readonly checked?: () => void;
  readonly apply: (entry: string) => void;
}

/** A connection whose commands may block. */
interface BlockingConnection extends RedisCommands {
  /** Closes it; commands without a reply fail. */
  close(): Promise<void>;
}

/** Applies the entries that other processes write, as they come, on a connection of its own. */
export class StreamFollower {
  readonly #redis: BlockingConnection;
  readonly #streams: ReadonlyMap<string, FollowedStream>;
  readonly #log: RequestLog;
  readonly #stop = new AbortController();
  readonly #first = Promise.withResolvers<void>();
  readonly #ended: Promise<void>;
  #isReported = false;

  constructor(redis: BlockingConnection, streams: readonly FollowedStream[], log: RequestLog) {
    this.#redis = redis;
    this.#streams = new Map(streams.map((stream) => [stream.name, stream]));
    this.#log = log;
    this.#ended = this.#run();
  }

  /** Resolves when what the others wrote before is applied, when that has failed, or so many ms later. */
  async ready(timeoutMs: number): Promise<void> {
    const late = new AbortController();
    await Promise.race([this.#first.promise, sleep(timeoutMs, late.signal)]);
    late.abort();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#redis.close();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      try {
        await this.#follow();
      } catch (error) {
        if (signal.aborted) return;
        this.#report(error);
        this.#first.resolve();
        await sleep(RETRY_MS, signal);
      }
    }
  }

  /** Reads until the connection fails. */
  async #follow(): Promise<void> {
    const from = await firstPosition(this.#redis);
    const positions = new Map([...this.#streams.keys()].map((name) => [name, from]));
    await Promise.all(this.#streams.values().map((stream) => stream.connected?.()));
    let isCurrent = false;
    while (!this.#stop.signal.aborted) {
      const entries = await entriesAfter(this.#redis, positions, {
        max: MAX_READ,
        blockMs: isCurrent ? BLOCK_MS : null,
      });
      isCurrent = entries.length < MAX_READ;
      for (const { stream, id, text } of entries) {
        positions.set(stream, id);
        if (text !== null) this.#streams.get(stream)?.apply(text);
      }
      for (const stream of this.#streams.values()) stream.checked?.();
      if (this.#isReported) {
        this.#log.write({ level: "info", message: "The events of other replicas are received again." });
      }
      this.#isReported = false;
      if (isCurrent) this.#first.resolve();
    }
  }

  #report(error: unknown): void {
    if (this.#isReported) return;
    this.#isReported = true;
    const reason = error instanceof HttpError
      ? `status ${error.status}`
      : error instanceof Error
      ? error.name
      : typeof error;
    const message =
      `The events of other replicas are not received (${reason}): until they are, refused logins of the ` +
      "other replicas do not count here, and sessions that they end stay valid here.";
    this.#log.write({ level: "error", message });
  }
}
