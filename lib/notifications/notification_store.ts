import type { NotificationEvent } from "./event.ts";

/** An event on its way to one receiver. */
export interface Delivery {
  /** The event's id and the channel. */
  readonly key: string;
  readonly event: NotificationEvent;
  /** How often it was tried. */
  readonly attempts: number;
}

/** A receiver that an event goes to. */
export interface Destination {
  /** Names it in the queue. */
  readonly channel: string;
  /** How long the event waits for others, ms. */
  readonly delayMs: number;
}

/** `known`: the event was added before. `full`: there is no room, and nothing was added. */
export type Added = "added" | "known" | "full";

/** What a sender takes of the queue. */
export interface Claim {
  readonly channel: string;
  /** Most deliveries. */
  readonly limit: number;
  /** Where one is due, those that are due within this time come along, ms. */
  readonly aheadMs: number;
}

/**
 * The queue of notifications, and what their sources remember. What was added stays until it is removed. Methods throw
 * where the queue cannot be used at the moment.
 */
export interface NotificationStore {
  add(event: NotificationEvent, destinations: readonly Destination[]): Promise<Added>;
  /** Takes deliveries for {@link LEASE_MS}: they are due again then, unless they were put off or removed. */
  claim(claim: Claim): Promise<Delivery[]>;
  /** Counts an attempt, and makes a delivery due after so many ms. */
  putOff(key: string, delayMs: number): Promise<void>;
  /** Gives a delivery back without an attempt. */
  release(key: string): Promise<void>;
  remove(key: string): Promise<void>;
  /** A text that was stored under a name; null without one. */
  read(name: string): Promise<string | null>;
  write(name: string, text: string): Promise<void>;
  close(): Promise<void>;
}

/** How long a claimed delivery is not given to another sender, ms: more than a sender takes, and a mail's window. */
export const LEASE_MS = 180_000;
/** Most deliveries that wait. */
export const MAX_WAITING = 1000;
/** How long the id of an event is known after it was added, ms, and of how many events. */
export const KNOWN_MS = 30 * 86_400_000;
export const MAX_KNOWN = 20_000;

/** The name of an event on its way to a channel. */
export function deliveryKey(event: NotificationEvent, channel: string): string {
  return `${event.id} ${channel}`;
}
