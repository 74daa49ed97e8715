import { type Signal, signal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";

import { nextTask } from "./run_steps.ts";

/**
 * The number of batches of a long list that are rendered by now: the first at once, each further one in a task of its own, so
 * that the page reacts in between.
 *
 * @param of what the list shows; another one begins with its first batch
 */
export function useBatches(total: number, of: unknown): number {
  const count: Signal<number> = useMemo(() => signal(Math.min(1, total)), [of, total]);
  useEffect(() => {
    let isOver = false;
    (async () => {
      for (let next = 2; next <= total; next++) {
        await nextTask();
        if (isOver) return;
        count.value = next;
      }
    })();
    return () => isOver = true;
  }, [count]);
  return count.value;
}
