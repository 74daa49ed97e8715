import { createHmac, timingSafeEqual } from "node:crypto";
import { Buffer } from "node:buffer";
import type { TaskKeys } from "@/lib/tasks/task_keys.ts";

/**
 * A ticket for the download of one archive without other credentials: when it expires, and an HMAC over that and the id
 * of the task.
 *
 * @param expiresAt ms since 1970
 */
export function issueTicket(task: string, expiresAt: number, keys: TaskKeys): string {
  const expires = Math.floor(expiresAt).toString(36);
  return `${expires}.${signature(task, expires, keys)}`;
}

/** Whether a ticket is for a task, and still valid. */
export function checkTicket(ticket: string, task: string, now: number, keys: TaskKeys): "valid" | "expired" | "wrong" {
  const [expires, given, ...rest] = ticket.split(".");
  if (given === undefined || rest.length > 0) return "wrong";
  const expected = Buffer.from(signature(task, expires, keys));
  const bytes = Buffer.from(given);
  if (bytes.length !== expected.length || !timingSafeEqual(bytes, expected)) return "wrong";
  return parseInt(expires, 36) > now ? "valid" : "expired";
}

function signature(task: string, expires: string, { ticket }: TaskKeys): string {
  return createHmac("sha256", ticket).update(`${task} ${expires}`).digest("base64url");
}
