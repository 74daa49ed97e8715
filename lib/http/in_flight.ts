import { type HttpError, unavailable } from "./errors.ts";
import type { Exchange } from "./exchange.ts";
import type { Step } from "./steps.ts";

/** Requests that a role works on at a time, where the settings do not say. */
export const DEFAULT_MAX_REQUESTS = 1024;
/** Requests that one tenant has of them at most, so that no tenant can take them all. */
export const DEFAULT_MAX_TENANT_REQUESTS = 512;
const RETRY_AFTER_SECONDS = 1;

/** Counts what is under way, by key. A key without anything under way takes no room. */
export class InFlight {
  readonly #counts = new Map<string, number>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** How many are under way. */
  count(key = ""): number {
    return this.#counts.get(key) ?? 0;
  }

  /** Takes a place; answers how to give it back, which counts once, or null when all are taken. */
  enter(key = ""): (() => void) | null {
    const count = this.count(key);
    if (count >= this.#max) return null;
    this.#counts.set(key, count + 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const left = this.count(key) - 1;
      if (left > 0) this.#counts.set(key, left);
      else this.#counts.delete(key);
    };
  }
}

/**
 * Lets a role work on so many requests at a time and answers 503 with Retry-After at once beyond that, before anything
 * is read. A request counts until its work is done and the last byte of its answer is sent, or its client is gone.
 */
export function boundedRole(inFlight: InFlight): Step {
  return async function boundedRole(exchange, next) {
    const leave = inFlight.enter();
    if (!leave) throw tooMany("Too many requests");
    const { held } = exchange;
    held.push(leave);
    const release = () => held.forEach((leave) => leave());
    // Without a connection (another part of this process asks) the request is over when it is answered. A client that is
    // gone may leave work behind, such as giving up its upload: that counts as well.
    const sent = exchange.info?.completed?.then(ignored, ignored);
    try {
      return await next(exchange);
    } finally {
      if (sent) sent.then(release);
      else release();
    }
  };
}

/** The same for one tenant's share of a role (null: the system level), once the caller is known. @throws HttpError 503 */
export function enterTenant(inFlight: InFlight, exchange: Exchange, tenant: string | null): void {
  const leave = inFlight.enter(tenant?.toLowerCase() ?? "");
  if (!leave) throw tooMany("Too many requests of this tenant");
  exchange.held.push(leave);
}

function ignored(): void {}

function tooMany(what: string): HttpError {
  return unavailable(`${what} at a time`, RETRY_AFTER_SECONDS);
}
