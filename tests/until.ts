import assert from "node:assert/strict";
import { sleep } from "@/lib/std/timing.ts";

const POLL_MS = 20;
/** After this a test fails: more than a machine under load needs for what a process does at once. */
export const TIMEOUT_MS = 90_000;

/** Waits until something is there. @throws {AssertionError} where it does not come within `timeoutMs` */
export async function until<T>(
  what: string,
  find: () => T | null | Promise<T | null>,
  timeoutMs: number = TIMEOUT_MS,
): Promise<T> {
  for (const end = Date.now() + timeoutMs;;) {
    const found = await find();
    if (found !== null) return found;
    assert.ok(Date.now() < end, `${what}: not within ${timeoutMs} ms`);
    await sleep(POLL_MS);
  }
}

/**
 * Makes a check again until it holds, of what comes about a moment after its cause.
 *
 * @throws what the check fails with for 90 s, and at once what is no failed assertion
 */
export async function untilHolds(check: () => Promise<void>): Promise<void> {
  for (const end = Date.now() + TIMEOUT_MS;;) {
    try {
      return await check();
    } catch (error) {
      if (!(error instanceof assert.AssertionError) || Date.now() > end) throw error;
    }
    await sleep(POLL_MS);
  }
}
