import { endsWithin } from "./ends_within.ts";

/**
 * Asks what may never be answered, as the system does not about a network share that is gone. Nothing is asked beside a
 * question that is open.
 *
 * @param ms how long an answer is waited for
 * @returns asks; null where the answer has not come in time, and at once as long as that one is open
 * @throws what `ask` throws
 */
export function answeredWithin<T>(ms: number, ask: () => Promise<T>): () => Promise<T | null> {
  let open: Promise<T> | null = null;
  let isLate = false;
  return async function answer() {
    if (isLate) return null;
    const asked = open ??= ask().finally(() => {
      open = null;
      isLate = false;
    });
    if (await endsWithin(ms, asked)) return await asked;
    isLate = open === asked;
    return null;
  };
}
