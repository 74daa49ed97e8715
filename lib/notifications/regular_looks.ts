import { sleep } from "@/lib/std/sleep.ts";

/**
 * Looks at something again and again, the first time at once.
 *
 * @param look must not throw
 * @param everyMs from the end of a look to the next, ms
 * @returns ends it, once the last look has ended
 */
export function lookRegularly(look: () => Promise<void>, everyMs: () => number): () => Promise<void> {
  const stopped = new AbortController();
  const looks = (async () => {
    while (!stopped.signal.aborted) {
      await look();
      await sleep(everyMs(), stopped.signal);
    }
  })();
  return async function stop() {
    stopped.abort();
    await looks;
  };
}
