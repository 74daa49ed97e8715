import { z } from "zod";
import type { RequestLog } from "@/lib/http/app.ts";
import { atMostEvery, sleep } from "@/lib/std/timing.ts";
import { errorReason } from "@/lib/std/text.ts";
import type { TaskStore } from "@/lib/tasks/task.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";
import { EVENT, type EventType, type NotificationEvent } from "./event.ts";

/** Delays after attempts that failed, s: about a day in all. */
const RETRY_SECONDS = [5, 30, 120, 600, 1800, 3600, 7200, 14_400, 28_800, 28_800];
/** A delay is up to so much longer, so that receivers are not called by all at once. */
const JITTER = 0.2;
/** How often the queue is looked at, ms: other processes put events into it, and what failed becomes due. */
const POLL_MS = 2000;
/** Delay after a failure of the queue, ms. */
const BROKEN_QUEUE_MS = 15_000;
/** How long attempts under way may take to end when the process stops, ms. */
const STOP_MS = 2000;
/** A trouble that lasts is reported no more often than this, ms. */
const REPORT_INTERVAL_MS = 60_000;

/** The outcome of an attempt. Reasons are for the operator and hold no secret. */
export type Outcome =
  | { readonly result: "sent" }
  /** May succeed later; `afterMs`: the receiver wants to be left alone so long. */
  | { readonly result: "failed"; readonly reason: string; readonly afterMs?: number }
  /** The receiver will not take it. */
  | { readonly result: "refused"; readonly reason: string };

/** A receiver of notifications. */
export interface Channel {
  /** Names it in the queue, the same in each process with the same settings. */
  readonly name: string;
  readonly kind: "webhook" | "mail";
  /** Names it for the operator, without a secret. */
  readonly shown: string;
  /** How long an event waits for others, ms; 0: it is sent by itself. */
  readonly windowMs: number;
  /** Most events that are sent at once. */
  readonly batch: number;
  /** Sends events at once, within a minute. Never throws. @param signal ends the attempt */
  send(events: readonly NotificationEvent[], signal: AbortSignal): Promise<Outcome>;
}

const CHANNEL_KINDS = ["webhook", "mail"] as const;

/** Attempts by what became of them, since the start. Whatever was dropped had failed as well. */
type ChannelFigures = Record<"sent" | "failed" | "dropped", number>;

interface NotifierOptions {
  readonly channels: readonly Channel[];
  /** The events that are wanted; others are not sent. */
  readonly types: readonly EventType[];
  /** The queue that outlives the process. */
  readonly queue: NotificationQueue;
  /** Takes what the other one cannot, such as that the disk is full. */
  readonly memory: NotificationQueue;
  readonly log: RequestLog;
  /** ms since 1970 */
  readonly now?: () => number;
  /** 0 up to 1. */
  readonly random?: () => number;
  readonly pollMs?: number;
  /** Delays between attempts, s. */
  readonly retrySeconds?: readonly number[];
}

/** Queues events and sends them to each channel, one attempt of a channel at a time. */
export class Notifier {
  readonly figures: ReadonlyMap<Channel["kind"], ChannelFigures>;
  readonly #mayReport = new Map<string, () => boolean>();
  readonly #stopped = new AbortController();
  readonly #cut = new AbortController();
  /** Deliveries that were made or dropped, and which the queue still holds. */
  readonly #settled = new Set<string>();
  /** Aborted, and replaced, with each event that is queued: whoever waits for work looks again. */
  #news = new AbortController();
  #loops: Promise<void>[] = [];

  constructor(private readonly options: NotifierOptions) {
    const kinds = CHANNEL_KINDS.filter((kind) => options.channels.some((channel) => channel.kind === kind));
    this.figures = new Map(kinds.map((kind) => [kind, { sent: 0, failed: 0, dropped: 0 }]));
  }

  /** Begins to send what is in the queue. */
  start(): void {
    const { channels, queue, memory } = this.options;
    this.#loops = channels.flatMap((channel) => [queue, memory].map((one) => this.#serve(channel, one)));
  }

  /**
   * Ends it: attempts under way have two seconds, then they are cut and made again by the next process.
   *
   * @param ms how long they have where that is less
   */
  async stop(ms: number = STOP_MS): Promise<void> {
    this.#stopped.abort();
    this.#news.abort();
    const cut = setTimeout(() => this.#cut.abort(), Math.min(ms, STOP_MS));
    await Promise.all(this.#loops);
    clearTimeout(cut);
    await Promise.allSettled([this.options.queue.close(), this.options.memory.close()]);
  }

  /** Whether events of that type are sent. */
  wants(type: EventType): boolean {
    return this.options.types.includes(type);
  }

  /** Puts an event into the queue, unless it is there, was sent, or is not wanted. Never throws. */
  async notify(event: NotificationEvent): Promise<void> {
    const { channels, now = Date.now } = this.options;
    if (!this.wants(event.type)) return;
    for (const { name, kind, windowMs } of channels) {
      // Windows are the same for all events, so that those of one window are due together.
      const delayMs = windowMs === 0 ? 0 : windowMs - now() % windowMs;
      if (await this.#add(event, name, delayMs) !== "full") continue;
      this.#count(kind, "dropped", 1);
      this.#report("full", "The queue of notifications is full: new ones are dropped until receivers take some");
    }
    this.#news.abort();
    if (!this.#stopped.signal.aborted) this.#news = new AbortController();
  }

  async #add(event: NotificationEvent, channel: string, delayMs: number): Promise<Added> {
    try {
      return await this.options.queue.add(event, channel, delayMs);
    } catch (error) {
      this.#reportQueue("written", error);
      return await this.options.memory.add(event, channel, delayMs);
    }
  }

  /** The text that a source of events stored under a name; null without one, or where it cannot be read. */
  async remembered(name: string): Promise<string | null> {
    try {
      return await this.options.queue.read(name);
    } catch (error) {
      this.#reportQueue("read", error);
      return null;
    }
  }

  /** Stores it for the next process, where the queue can be written. */
  async remember(name: string, text: string): Promise<void> {
    try {
      await this.options.queue.write(name, text);
    } catch (error) {
      this.#reportQueue("written", error);
    }
  }

  async #serve(channel: Channel, queue: NotificationQueue): Promise<void> {
    const { pollMs = POLL_MS } = this.options;
    while (!this.#stopped.signal.aborted) {
      // Taken before the look: what is queued during it ends the pause behind it.
      const news = this.#news.signal;
      try {
        const claimed = await queue.claim(channel.name, channel.batch);
        if (claimed.length === 0) await sleep(pollMs, news);
        else await this.#deliver(channel, queue, claimed);
      } catch (error) {
        this.#reportQueue("read", error);
        await sleep(BROKEN_QUEUE_MS, this.#news.signal);
      }
    }
  }

  async #deliver(channel: Channel, queue: NotificationQueue, claimed: readonly Delivery[]): Promise<void> {
    const due = claimed.filter(({ key }) => !this.#settled.has(key));
    await this.#remove(queue, claimed.filter((delivery) => !due.includes(delivery)));
    if (due.length === 0) return;
    const outcome = await channel.send(due.map(({ event }) => event), this.#cut.signal);
    if (outcome.result === "sent") {
      this.#count(channel.kind, "sent", due.length);
      await this.#remove(queue, due);
    } else if (this.#cut.signal.aborted) {
      for (const delivery of due) await queue.release(delivery);
    } else {
      await this.#failed(channel, queue, due, outcome);
    }
  }

  async #failed(
    channel: Channel,
    queue: NotificationQueue,
    due: readonly Delivery[],
    outcome: Exclude<Outcome, { result: "sent" }>,
  ): Promise<void> {
    const { retrySeconds = RETRY_SECONDS, random = Math.random, log } = this.options;
    this.#count(channel.kind, "failed", due.length);
    for (const delivery of due) {
      const { event, attempts } = delivery;
      const seconds = retrySeconds[attempts];
      if (outcome.result === "failed" && seconds !== undefined) {
        this.#report(channel.name, `A notification waits for its receiver: ${channel.shown}, ${outcome.reason}`);
        await queue.putOff(delivery, Math.max(seconds * 1000 * (1 + JITTER * random()), outcome.afterMs ?? 0));
        continue;
      }
      this.#count(channel.kind, "dropped", 1);
      const message = `A notification was dropped: ${channel.shown}, ${outcome.reason}`;
      log.write({ level: "error", message, notification: event.id, attempts: attempts + 1 });
      await this.#remove(queue, [delivery]);
    }
  }

  /** A delivery that cannot be removed, as on a full disk, is not sent again by this process. */
  async #remove(queue: NotificationQueue, deliveries: readonly Delivery[]): Promise<void> {
    for (const { key } of deliveries) this.#settled.add(key);
    for (const { key } of deliveries) {
      await queue.remove(key);
      this.#settled.delete(key);
    }
  }

  #count(kind: Channel["kind"], what: keyof ChannelFigures, count: number): void {
    const figures = this.figures.get(kind);
    if (figures) figures[what] += count;
  }

  #reportQueue(what: "read" | "written", error: unknown): void {
    this.#report("queue", `The queue of notifications cannot be ${what} (${errorReason(error)}): ${IN_MEMORY}`);
  }

  #report(what: string, message: string): void {
    let mayReport = this.#mayReport.get(what);
    if (!mayReport) this.#mayReport.set(what, mayReport = atMostEvery(REPORT_INTERVAL_MS));
    if (mayReport()) this.options.log.write({ level: "warn", message });
  }
}

const IN_MEMORY = "new ones are in memory until they are sent";

/** An event on its way to one receiver. */
interface Delivery {
  /** The event's id and the channel. */
  readonly key: string;
  readonly event: NotificationEvent;
  /** How often it was tried. */
  readonly attempts: number;
}

/** `known`: the event was added before. `full`: there is no room. */
type Added = "added" | "known" | "full";

/** How long a claimed delivery is not given to another sender, ms: more than a sender takes. */
export const LEASE_MS = 180_000;
/** Most deliveries that wait. */
export const MAX_WAITING = 1000;
/** Expired deliveries count for nothing, so they are deleted only now and then. */
const ADDED_PER_SWEEP = 100;

const PROGRESS = z.object({ event: EVENT, attempts: z.int().nonnegative() });

/**
 * The queue of notifications, and what their sources remember. Each delivery is a task whose owner is its channel. What
 * was added stays until it is removed. Methods throw where the store cannot be used at the moment.
 */
export class NotificationQueue {
  readonly #holder = crypto.randomUUID();
  #added = 0;

  /** @param store closed with the queue; it holds nothing else */
  constructor(private readonly store: TaskStore) {}

  /** Adds an event for a channel. @param delayMs until it is due */
  async add(event: NotificationEvent, channel: string, delayMs: number): Promise<Added> {
    if (this.#added++ % ADDED_PER_SWEEP === 0) await this.store.sweep();
    const id = `${event.id} ${channel}`;
    const created = await this.store.create(
      {
        id,
        kind: "notification",
        owner: channel,
        tenant: null,
        account: null,
        bucket: "",
        progress: JSON.stringify({ event, attempts: 0 }),
        sealedCaller: new Uint8Array(),
      },
      this.#holder,
      { maxPerOwner: MAX_WAITING, maxPerTenant: MAX_WAITING, max: MAX_WAITING },
    );
    if (created === "exists") return "known";
    if (created !== "created") return "full";
    await this.store.postpone(id, this.#holder, null, delayMs);
    return "added";
  }

  /** Takes up to `limit` due deliveries for {@link LEASE_MS}: they are due again then, unless put off or removed. */
  async claim(channel: string, limit: number): Promise<Delivery[]> {
    const tasks = await this.store.claim(this.#holder, limit, channel, LEASE_MS);
    const found: Delivery[] = [];
    for (const { id, progress } of tasks) {
      const { data } = PROGRESS.safeParse(parsedJson(progress));
      if (data && id === `${data.event.id} ${channel}`) found.push({ key: id, ...data });
      else await this.remove(id);
    }
    return found;
  }

  /** Counts an attempt, and makes a delivery due after so many ms. */
  async putOff({ key, event, attempts }: Delivery, delayMs: number): Promise<void> {
    await this.store.postpone(key, this.#holder, JSON.stringify({ event, attempts: attempts + 1 }), delayMs);
  }

  /** Gives a delivery back without an attempt. */
  async release({ key }: Delivery): Promise<void> {
    await this.store.postpone(key, this.#holder, null, 0);
  }

  async remove(key: string): Promise<void> {
    await this.store.end(key, this.#holder, { state: "ready", error: null, progress: "" });
  }

  /** A text that was stored under a name; null without one. */
  async read(name: string): Promise<string | null> {
    return await this.store.readNote(name);
  }

  async write(name: string, text: string): Promise<void> {
    await this.store.replaceNote(name, await this.store.readNote(name), text);
  }

  async close(): Promise<void> {
    await this.store.close();
  }
}
