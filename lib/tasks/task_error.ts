import { HttpError } from "@/lib/http/errors.ts";

/** Statuses of errors that may pass (spec, Errors). */
const TRANSIENT: ReadonlySet<number> = new Set([408, 429, 500, 502, 503, 504]);

/** Whether the same work may succeed later. */
export function isTransient(error: unknown): boolean {
  return error instanceof HttpError && TRANSIENT.has(error.status);
}

/** Why a task failed, as a sentence for its owner; null for a fault of this program. */
export function failureSentence(error: unknown): string | null {
  if (!(error instanceof HttpError)) return null;
  if (error.status === 401) {
    return `${error.message}. They were right when the task was started: log in again and start it again`;
  }
  if (error.status === 403) {
    return `${error.message}. The account, its password or its permissions may have changed since the task was started`;
  }
  return error.message;
}

/** The sealed keys were sealed with another `API_SECRET_KEY`, or for another task, kind or bucket. */
export const UNREADABLE_CALLER =
  "The key of the gateway was replaced or the stored task was changed since it was started: start it again";
/** A blob that the work reads is not the one that its owner's keys were sealed with. */
export const CHANGED_INPUT = "The stored list of what to work on was changed or is gone: start the task again";
/** A sealed progress does not open. That of a version that did not seal it does not either. */
export const CHANGED_PROGRESS =
  "The stored progress of the task was changed, or is of another version of the gateway: start it again";
/** The progress is not one of this version, or of a kind that it does not have. */
export const UNREADABLE_TASK = "The task was started by another version of the gateway: start it again";
/** The error of a cancelled task of a kind that has no such state in its responses. */
export const CANCELED = "The task was cancelled";
export const INTERNAL_ERROR = "Internal error of the gateway: its log says more";
