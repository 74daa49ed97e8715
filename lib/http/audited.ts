import type { AuditAction, AuditResult } from "@/lib/std/audit_words.ts";
import type { AuditDetails, AuditRecorder, AuditTarget } from "./audit_event.ts";
import { HttpError } from "./errors.ts";
import type { RequestContext } from "./request_context.ts";

/** How the change that an operation makes is recorded; `Input` is the validated input of its handler. */
export interface AuditSpec<Input> {
  readonly action: AuditAction;
  /** Another action, where the input decides. */
  readonly actionOf?: (input: Input) => AuditAction;
  /** Whether a request only reads, so that it has no record. */
  readonly isRead?: (input: Input) => boolean;
  readonly target: (input: Input) => AuditTarget;
  /** Whose change it is, where that is not the caller's tenant. */
  readonly tenant?: (input: Input) => string | null;
  readonly details?: (input: Input) => AuditDetails;
  /** Whether a part of it may have happened where it ends with any error. */
  readonly isPartial?: true;
}

/** Statuses of a refusal for lack of a right. */
const REFUSED: ReadonlySet<number> = new Set([401, 403]);
/** The client has left; what it sent may have arrived. */
const CLIENT_CLOSED = 499;
/** Statuses that reject a request before anything was done. */
const BEFORE_ANY: ReadonlySet<number> = new Set([400, 404, 405, 415, 422, 501]);

/** The result of a change by the status of its response; null: there was none. */
function resultOf(status: number, isPartial: boolean): AuditResult | null {
  if (status < 400) return "succeeded";
  if (REFUSED.has(status)) return "refused";
  if (BEFORE_ANY.has(status)) return null;
  return isPartial || status >= 500 || status === CLIENT_CLOSED ? "failed" : null;
}

/**
 * Handles a request whose change is recorded: the response is returned once its record is there. Requests that changed
 * nothing have none.
 *
 * @throws what `handle` throws; HttpError 507 as {@link AuditRecorder}
 */
export async function recorded<Input>(
  recorder: AuditRecorder,
  spec: AuditSpec<Input>,
  input: Input,
  context: RequestContext,
  handle: () => Response | Promise<Response>,
): Promise<Response> {
  if (spec.isRead?.(input)) return await handle();
  recorder.requireRoom();
  const { caller } = context;
  // Read before it is handled: a handler may change what it was given.
  const described = {
    action: spec.actionOf?.(input) ?? spec.action,
    tenant: spec.tenant ? spec.tenant(input) : caller?.tenant ?? null,
    actor: caller ? { name: caller.username, tenant: caller.tenant } : null,
    target: spec.target(input),
  };
  const details = spec.details?.(input);
  const record = async (status: number) => {
    const result = resultOf(status, spec.isPartial ?? false);
    if (result === null || !(await isKnownActor(context, result, status))) return;
    const { clientAddress: address, requestId, role = null } = context;
    const event = { ...described, address, requestId, role, result, status, details: { ...details, ...context.noted } };
    await recorder.record(event);
  };
  let response: Response;
  try {
    response = await handle();
  } catch (error) {
    // The client is told what happened, whether or not there is room for a record of it.
    await record(error instanceof HttpError ? error.status : 500).catch(() => {});
    throw error;
  }
  try {
    await record(response.status);
  } catch (error) {
    if (response.status >= 400) return response;
    await response.body?.cancel().catch(() => {});
    throw error;
  }
  return response;
}

/**
 * Whether the store has accepted the credentials of a request, or could not be asked. Wrong ones are those of a failed
 * login, which has a record of its own; what they did, such as signing a URL, is of no use.
 */
async function isKnownActor(context: RequestContext, result: AuditResult, status: number): Promise<boolean> {
  if (context.admitted !== "unproven" || context.isAccepted) return true;
  // A client that leaves before the store's response must not keep what it changed out of the trail. Nobody waits for it.
  const hasLeft = status === CLIENT_CLOSED && context.prove !== undefined;
  if (result !== "succeeded" && !hasLeft) return false;
  try {
    await context.prove?.();
    return true;
  } catch (error) {
    return !hasLeft && (!(error instanceof HttpError) || !REFUSED.has(error.status));
  }
}
