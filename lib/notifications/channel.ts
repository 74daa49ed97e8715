import type { NotificationEvent } from "./event.ts";

/** What became of an attempt. Reasons are for the operator and hold no secret. */
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
