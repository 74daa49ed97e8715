import { Buffer } from "node:buffer";
import type { RequestLog } from "@/lib/http/app.ts";
import { errorName } from "@/lib/http/errors.ts";
import { sleep } from "@/lib/std/timing.ts";
import type { RedisClient } from "./redis_client.ts";
import type { SealedEvents } from "./sealed_events.ts";

/** A connection to Redis or Valkey, which sends commands in the order of the calls. */
export type RedisCommands = Pick<RedisClient, "command">;

/** A text of a reply; null for anything else. */
export function textOf(reply: unknown): string | null {
  return reply instanceof Uint8Array
    ? Buffer.from(reply.buffer, reply.byteOffset, reply.length).toString("utf8")
    : null;
}

/** The elements of a list in a reply; none for anything else. */
export function listOf(reply: unknown): readonly unknown[] {
  return Array.isArray(reply) ? reply : [];
}

/** Entries of a stream; older ones are dropped, give or take some hundreds. */
const MAX_ENTRIES = 20_000;
/** How far back a process reads that starts or has lost its connection, ms. A stream without a new entry is gone then. */
const HISTORY_MS = 600_000;
const FIELD = "e";
/** Entries of each stream that are read at a time. */
const MAX_READ = 100;

/** Adds an entry. */
export async function appendEntry(redis: RedisCommands, stream: string, entry: string): Promise<void> {
  await Promise.all([
    redis.command("XADD", stream, "MAXLEN", "~", MAX_ENTRIES, "*", FIELD, entry),
    redis.command("PEXPIRE", stream, HISTORY_MS),
  ]);
}

/**
 * The entries after these positions, in their order.
 *
 * @param positions by stream
 * @param blockMs how long to wait for the first one; null: not at all
 */
async function entriesAfter(redis: RedisCommands, positions: ReadonlyMap<string, string>, blockMs: number | null) {
  const where = [...positions.keys(), ...positions.values()];
  const block = blockMs === null ? [] : ["BLOCK", blockMs];
  const streams = listOf(await redis.command("XREAD", "COUNT", MAX_READ, ...block, "STREAMS", ...where));
  return streams.flatMap((one) => {
    const [name, entries] = listOf(one);
    const stream = textOf(name) ?? "";
    return listOf(entries).map((entry) => {
      const [id, fields] = listOf(entry);
      return { stream, id: textOf(id) ?? "", text: textOf(listOf(fields)[1]) };
    });
  });
}

/** Delay before the next attempt after a failure or a lost connection, ms. */
const RETRY_MS = 1000;

/** Events that wait to be sent; beyond that the oldest are dropped. */
export const MAX_WAITING_EVENTS = 10_000;
const MAX_EVENTS_PER_ENTRY = 32;
/** How long the end of the process waits for events that are being sent, ms. */
const CLOSE_TIMEOUT_MS = 500;

/** Sends events to the other processes in the background. Nothing waits for it, and it never fails. */
export class EventPublisher {
  readonly #stop = new AbortController();
  readonly #waiting: unknown[] = [];
  #sending: Promise<void> | null = null;

  constructor(
    private readonly redis: RedisCommands,
    private readonly stream: string,
    private readonly events: SealedEvents,
    private readonly wait = sleep,
  ) {}

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
        if (entry === null) {
          entry = this.events.seal(this.#waiting.slice(0, MAX_EVENTS_PER_ENTRY));
          // Not before: while the key cannot be read, sealing them throws.
          this.#waiting.splice(0, MAX_EVENTS_PER_ENTRY);
        }
        // An entry whose reply was lost is sent again as it is, so that it is applied once.
        await appendEntry(this.redis, this.stream, entry);
        entry = null;
      } catch {
        // The connection reports by itself when it is lost and when it is back.
        await this.wait(RETRY_MS, signal);
      }
    }
    this.#sending = null;
  }
}

/** How long the server holds a reply back when there is no entry, ms: less than the bound of a command. */
const BLOCK_MS = 2000;

/** A stream whose entries are applied. */
export interface FollowedStream {
  readonly name: string;
  /** Called after each connect, before entries are read. Earlier entries may be repeated. */
  readonly connected?: () => Promise<void>;
  /** Called after each reply, every two seconds at least. */
  readonly checked?: () => void;
  readonly apply: (entry: string) => void;
}

/** Applies the entries of other processes as they arrive. Its commands block, so the connection is not shared. */
export class StreamFollower {
  readonly #streams: ReadonlyMap<string, FollowedStream>;
  readonly #stop = new AbortController();
  readonly #first = Promise.withResolvers<void>();
  readonly #ended: Promise<void>;
  #isReported = false;

  constructor(
    private readonly redis: Pick<RedisClient, "command" | "close">,
    streams: readonly FollowedStream[],
    private readonly log: RequestLog,
  ) {
    this.#streams = new Map(streams.map((stream) => [stream.name, stream]));
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
    await this.redis.close();
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
    const [seconds] = listOf(await this.redis.command("TIME"));
    const from = `${Math.max(0, Number(textOf(seconds)) * 1000 - HISTORY_MS)}-0`;
    const positions = new Map([...this.#streams.keys()].map((name) => [name, from]));
    await Promise.all(this.#streams.values().map((stream) => stream.connected?.()));
    let isCurrent = false;
    while (!this.#stop.signal.aborted) {
      const entries = await entriesAfter(this.redis, positions, isCurrent ? BLOCK_MS : null);
      isCurrent = entries.length < MAX_READ;
      for (const { stream, id, text } of entries) {
        positions.set(stream, id);
        if (text !== null) this.#streams.get(stream)?.apply(text);
      }
      for (const stream of this.#streams.values()) stream.checked?.();
      if (this.#isReported) {
        this.log.write({ level: "info", message: "The events of other replicas are received again." });
      }
      this.#isReported = false;
      if (isCurrent) this.#first.resolve();
    }
  }

  #report(error: unknown): void {
    if (this.#isReported) return;
    this.#isReported = true;
    const message =
      `The events of other replicas are not received (${errorName(error)}): until they are, refused logins of the ` +
      "other replicas do not count here, and sessions that they end stay valid here.";
    this.log.write({ level: "error", message });
  }
}
