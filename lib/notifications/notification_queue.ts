import { z } from "zod";
import type { TaskStore } from "@/lib/tasks/task.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";
import { EVENT, type NotificationEvent } from "./event.ts";

/** An event on its way to one receiver. */
export interface Delivery {
  /** The event's id and the channel. */
  readonly key: string;
  readonly event: NotificationEvent;
  /** How often it was tried. */
  readonly attempts: number;
}

/** `known`: the event was added before. `full`: there is no room. */
export type Added = "added" | "known" | "full";

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
  readonly #store: TaskStore;
  readonly #holder = crypto.randomUUID();
  #added = 0;

  /** @param store closed with the queue; it holds nothing else */
  constructor(store: TaskStore) {
    this.#store = store;
  }

  /** Adds an event for a channel. @param delayMs until it is due */
  async add(event: NotificationEvent, channel: string, delayMs: number): Promise<Added> {
    if (this.#added++ % ADDED_PER_SWEEP === 0) await this.#store.sweep();
    const id = `${event.id} ${channel}`;
    const created = await this.#store.create(
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
    await this.#store.postpone(id, this.#holder, null, delayMs);
    return "added";
  }

  /** Takes up to `limit` due deliveries for {@link LEASE_MS}: they are due again then, unless put off or removed. */
  async claim(channel: string, limit: number): Promise<Delivery[]> {
    const tasks = await this.#store.claim(this.#holder, limit, channel, LEASE_MS);
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
    await this.#store.postpone(key, this.#holder, JSON.stringify({ event, attempts: attempts + 1 }), delayMs);
  }

  /** Gives a delivery back without an attempt. */
  async release({ key }: Delivery): Promise<void> {
    await this.#store.postpone(key, this.#holder, null, 0);
  }

  async remove(key: string): Promise<void> {
    await this.#store.end(key, this.#holder, { state: "ready", error: null, progress: "", keepsCaller: false });
  }

  /** A text that was stored under a name; null without one. */
  async read(name: string): Promise<string | null> {
    return await this.#store.readNote(name);
  }

  async write(name: string, text: string): Promise<void> {
    await this.#store.replaceNote(name, await this.#store.readNote(name), text);
  }

  async close(): Promise<void> {
    await this.#store.close();
  }
}
