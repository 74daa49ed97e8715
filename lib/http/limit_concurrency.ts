import { cancelBody } from "@/lib/std/body_reader.ts";
import { addressKey } from "./client_address.ts";
import { type HttpError, type Refusal, unavailable } from "./errors.ts";
import type { Middleware, RequestContext } from "./request_context.ts";

/** The limit that is reached: the share of one key, such as an address, or all. */
export type Full = "address" | "all";

type Leave = () => void;

/**
 * Limits how much runs at a time, in all and for each key, such as a client's address, so that no key can take every slot.
 * A key without slots takes no memory.
 */
export class Slots {
  readonly max: number;
  readonly #byKey = new Map<string, number>();
  #count = 0;

  /** @param max Infinity: only keys are limited */
  constructor(max: number, private readonly maxPerKey = max) {
    this.max = max;
  }

  /** How many are taken, in all. */
  get count(): number {
    return this.#count;
  }

  /** How many are taken of one key. */
  countOf(key: string): number {
    return this.#byKey.get(key) ?? 0;
  }

  /** Takes a slot. @returns a function that releases it, once however often it is called; or what is full */
  enter(key = ""): Leave | Full {
    if (this.#count >= this.max) return "all";
    const before = this.countOf(key);
    if (before >= this.maxPerKey) return "address";
    this.#count++;
    this.#byKey.set(key, before + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#count--;
      const left = this.countOf(key) - 1;
      if (left > 0) this.#byKey.set(key, left);
      else this.#byKey.delete(key);
    };
  }
}

/** Requests that a role handles at a time, unless the settings say otherwise. */
export const DEFAULT_MAX_REQUESTS = 1024;
const RETRY_AFTER_SECONDS = 1;

/** Most of a role's requests for one tenant, so that no tenant can take them all. */
export function maxTenantRequests(maxRequests: number): number {
  return Math.ceil(maxRequests / 2);
}

/**
 * Limits how many requests a role handles at a time: beyond that it returns 503 with Retry-After at once, before anything
 * is read. A request with a body takes a slot of `logins` instead, since it needs no credentials and may arrive slowly: it
 * waits for one as {@link UnprovenRequests} says. The slot is released by `handledBy` in app.ts, which comes before it.
 */
export function limitConcurrency(role: Slots, logins: UnprovenRequests): Middleware {
  return async function limitConcurrency(c, next) {
    const context = c.get("context");
    const { method } = context;
    if (context.role === undefined) {
      throw new Error("limitConcurrency without handledBy before it: its slots are never released");
    }
    try {
      if (method === "GET" || method === "HEAD") enterRole(role, context);
      else context.hold(await logins.enter(context));
    } catch (error) {
      cancelBody(context.request);
      throw error;
    }
    await next();
  };
}

/** Takes a slot of a role for a request. @throws HttpError 503 when all are taken */
export function enterRole(role: Slots, context: RequestContext): void {
  context.hold(slotOf(role));
}

/**
 * Takes a slot of a role for a request, and one of its tenant's share (null: the system level).
 *
 * @throws HttpError 503 when one of them is not free; then none is taken
 */
export function enterTenant(role: Slots, tenants: Slots, context: RequestContext, tenant: string | null): void {
  const leaveRole = slotOf(role);
  const leaveTenant = tenants.enter(tenant?.toLowerCase() ?? "");
  if (typeof leaveTenant === "string") {
    leaveRole();
    throw tooMany("Too many requests of this tenant", "tenant_full");
  }
  context.hold(leaveRole);
  context.hold(leaveTenant);
}

function slotOf(role: Slots): Leave {
  const leave = role.enter();
  if (typeof leave === "string") throw tooMany("Too many requests", "role_full");
  return leave;
}

function tooMany(what: string, refusal: Refusal): HttpError {
  return unavailable(`${what} at a time`, RETRY_AFTER_SECONDS, refusal);
}

/**
 * Requests of clients whose credentials are not checked yet: from one address, and in all. Those of an address are as many
 * as the wrong passwords that it may try, so that right ones never count as guesses.
 */
export const MAX_UNPROVEN_PER_ADDRESS = 60;

export const MAX_UNPROVEN = 512;

/** Requests with a body that need no credentials, such as logins: from one address, and in all. */
export const MAX_LOGINS_PER_ADDRESS = 16;

export const MAX_LOGINS = 256;

/** How long a request waits for a slot, ms. */
const MAX_WAIT_MS = 1000;
/** Requests that wait for a slot: from one address, and in all. Further ones are refused at once. */
const MAX_WAITING_PER_ADDRESS = 256;
const MAX_WAITING = 1024;

/** A request that waits for a slot. */
interface Waiting {
  readonly address: string;
  readonly begin: (leave: Leave) => void;
}

/**
 * Slots for requests whose credentials are not proven, separate from those for proven ones. A request waits if none is
 * free, so that the workers of one host may start at the same time.
 */
export class UnprovenRequests {
  readonly #limit: Slots;
  readonly #waitLimit = new Slots(MAX_WAITING, MAX_WAITING_PER_ADDRESS);
  /** In the order of their arrival. */
  readonly #waiting = new Set<Waiting>();

  constructor(maxPerAddress: number, max: number, private readonly maxWaitMs = MAX_WAIT_MS) {
    this.#limit = new Slots(max, maxPerAddress);
  }

  /** How many are taken. */
  get count(): number {
    return this.#limit.count;
  }

  /** How many there are. */
  get max(): number {
    return this.#limit.max;
  }

  /** How many requests wait for a slot. */
  get waiting(): number {
    return this.#waitLimit.count;
  }

  /**
   * Takes a slot for a request, after a wait of up to a second where none is free.
   *
   * @returns a function that releases the slot, once however often it is called
   * @throws HttpError 503 when none became free, or too many requests wait
   */
  async enter(context: RequestContext): Promise<() => void> {
    const address = addressKey(context.clientAddress);
    const slot = this.#take(address);
    return typeof slot === "function" ? slot : await this.#wait(address, slot);
  }

  async #wait(address: string, full: Full): Promise<Leave> {
    const stopWaiting = this.#waitLimit.enter(address);
    if (typeof stopWaiting === "string") throw noSlot(full);
    const { promise, resolve, reject } = Promise.withResolvers<Leave>();
    const waiting: Waiting = { address, begin: resolve };
    this.#waiting.add(waiting);
    const timer = setTimeout(() => {
      this.#waiting.delete(waiting);
      reject(noSlot(full));
    }, this.maxWaitMs);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      stopWaiting();
    }
  }

  #take(address: string): Leave | Full {
    const leave = this.#limit.enter(address);
    if (typeof leave === "string") return leave;
    return () => {
      leave();
      this.#beginNext();
    };
  }

  /** Gives a free slot to the first waiting request that may have it. */
  #beginNext(): void {
    for (const waiting of this.#waiting) {
      const slot = this.#take(waiting.address);
      if (typeof slot === "string") continue;
      this.#waiting.delete(waiting);
      return waiting.begin(slot);
    }
  }
}

function noSlot(full: Full): HttpError {
  return full === "address"
    ? tooMany("Too many requests of this address", "address_full")
    : tooMany("Too many requests without proven credentials", "unproven_full");
}
