import { cancelBody } from "@/lib/std/cancel_body.ts";
import { addressKey } from "./client_address.ts";
import { type HttpError, type Refusal, unavailable } from "./errors.ts";
import { AddressLimit, type InFlight } from "./in_flight.ts";
import type { Middleware } from "./middleware.ts";
import type { RequestContext } from "./request_context.ts";

/** Requests that a role handles at a time, unless the settings say otherwise. */
export const DEFAULT_MAX_REQUESTS = 1024;
/** Most of them for one tenant, so that no tenant can take them all. */
export const DEFAULT_MAX_TENANT_REQUESTS = 512;
const RETRY_AFTER_SECONDS = 1;

/**
 * Limits how many requests a role handles at a time: beyond that it returns 503 with Retry-After at once, before anything
 * is read. A request with a body takes a slot of `logins` instead, since it needs no credentials and may arrive slowly.
 * The slot is released by `handledBy` in app.ts, which comes before it.
 */
export function limitConcurrency(inFlight: InFlight, logins: UnprovenRequests): Middleware {
  return function limitConcurrency(c, next) {
    const context = c.get("context");
    const { method, role } = context;
    if (role === undefined) {
      throw new Error("limitConcurrency without handledBy before it: its slots are never released");
    }
    try {
      if (method === "GET" || method === "HEAD") enterRole(inFlight, context);
      else context.hold(logins.enter(context));
    } catch (error) {
      cancelBody(context.request);
      throw error;
    }
    return next();
  };
}

/** Takes a slot of a role for a request. @throws HttpError 503 when all are taken */
export function enterRole(inFlight: InFlight, context: RequestContext): void {
  const leave = inFlight.enter();
  if (!leave) throw tooMany("Too many requests", "role_full");
  context.hold(leave);
}

/**
 * Takes a slot of a role for a request, and one of its tenant's share (null: the system level).
 *
 * @throws HttpError 503 when one of them is not free; then none is taken
 */
export function enterTenant(role: InFlight, tenants: InFlight, context: RequestContext, tenant: string | null): void {
  const leaveRole = role.enter();
  if (!leaveRole) throw tooMany("Too many requests", "role_full");
  const leaveTenant = tenants.enter(tenant?.toLowerCase() ?? "");
  if (!leaveTenant) {
    leaveRole();
    throw tooMany("Too many requests of this tenant", "tenant_full");
  }
  context.hold(leaveRole);
  context.hold(leaveTenant);
}

function tooMany(what: string, refusal: Refusal): HttpError {
  return unavailable(`${what} at a time`, RETRY_AFTER_SECONDS, refusal);
}

/** Requests of clients whose credentials are not checked yet: from one address, and in all. */
export const MAX_UNPROVEN_PER_ADDRESS = 64;

export const MAX_UNPROVEN = 512;

/** Bodies that need no credentials, such as that of a login: from one address, and in all. */
export const MAX_LOGINS_PER_ADDRESS = 16;

export const MAX_LOGINS = 256;

/** Slots for the requests of clients whose credentials are not proven, apart from those of clients with proven ones. */
export class UnprovenRequests {
  readonly #limit: AddressLimit;

  constructor(maxPerAddress: number, max: number) {
    this.#limit = new AddressLimit(maxPerAddress, max);
  }

  /** How many are taken. */
  get count(): number {
    return this.#limit.count;
  }

  /** How many there are. */
  get max(): number {
    return this.#limit.max;
  }

  /**
   * Takes a slot for a request.
   *
   * @returns a function that releases the slot, once however often it is called
   * @throws HttpError 503 when none is left
   */
  enter(context: RequestContext): () => void {
    const slot = this.#limit.enter(addressKey(context.clientAddress));
    if (slot === "address") throw tooMany("Too many requests of this address", "address_full");
    if (slot === "all") throw tooMany("Too many requests without proven credentials", "unproven_full");
    return slot;
  }
}
