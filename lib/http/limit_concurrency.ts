import { cancelBody } from "@/lib/std/cancel_body.ts";
import { type HttpError, unavailable } from "./errors.ts";
import type { InFlight } from "./in_flight.ts";
import type { Middleware } from "./middleware.ts";
import type { RequestContext } from "./request_context.ts";
import type { UnprovenRequests } from "./unproven_requests.ts";

/** Requests that a role works on at a time, where the settings do not say. */
export const DEFAULT_MAX_REQUESTS = 1024;
/** Requests that one tenant has of them at most, so that no tenant can take them all. */
export const DEFAULT_MAX_TENANT_REQUESTS = 512;
const RETRY_AFTER_SECONDS = 1;

/**
 * Releases what a request holds when its work is done and the last byte of its answer is sent, or its client is gone. A
 * client that is gone may leave work behind, such as giving up its upload: that counts as well.
 */
export const releaseSlots: Middleware = async function releaseSlots(c, next) {
  const context = c.get("context");
  // Without a connection (another part of this process asks) the request is over when it is answered.
  const sent = context.info?.completed?.then(ignored, ignored);
  const release = () => context.release();
  try {
    await next();
  } finally {
    if (sent) sent.then(release);
    else release();
  }
};

/**
 * Lets a role whose requests are small work on so many of them at a time and answers 503 with Retry-After at once beyond
 * that, before anything is read. What brings a body has a place among `logins` instead: anybody may send one, as slowly
 * as they like.
 */
export function limitConcurrency(inFlight: InFlight, logins: UnprovenRequests): Middleware {
  return function limitConcurrency(c, next) {
    const context = c.get("context");
    const { method } = context;
    try {
      if (method === "GET" || method === "HEAD") enterRole(inFlight, context);
      else context.hold(logins.enter(context));
    } catch (error) {
      cancelBody(context.request);
      throw error;
    }
    return releaseSlots(c, next);
  };
}

/** Takes a place of a role for a request. @throws HttpError 503 when all are taken */
export function enterRole(inFlight: InFlight, context: RequestContext): void {
  const leave = inFlight.enter();
  if (!leave) throw tooMany("Too many requests");
  context.hold(leave);
}

/**
 * Takes a place of a role for a request, and one of its tenant's share (null: the system level).
 *
 * @throws HttpError 503 when one of them is not to be had; then none is taken
 */
export function enterTenant(role: InFlight, tenants: InFlight, context: RequestContext, tenant: string | null): void {
  const leaveRole = role.enter();
  if (!leaveRole) throw tooMany("Too many requests");
  const leaveTenant = tenants.enter(tenant?.toLowerCase() ?? "");
  if (!leaveTenant) {
    leaveRole();
    throw tooMany("Too many requests of this tenant");
  }
  context.hold(leaveRole);
  context.hold(leaveTenant);
}

function ignored(): void {}

function tooMany(what: string): HttpError {
  return unavailable(`${what} at a time`, RETRY_AFTER_SECONDS);
}
