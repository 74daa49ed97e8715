/** Longest time of computing before other work of the process gets a turn, ms. */
const SLICE_MS = 1;
/** Wait for other work, ms: a timer that is due by then, or an immediate, would run before what has arrived. */
const TURN_MS = 2;
/** Reading the clock costs about as much as a small item. */
const ITEMS_PER_CLOCK = 4;

/**
 * Calls `work` with 0 to `count` - 1, letting other work of the process in between. Several such loops take turns, one
 * slice at a time, so that other work waits for one slice and not for one of each.
 *
 * @throws what `work` throws
 */
export async function yielding(count: number, work: (index: number) => void): Promise<void> {
  let until = performance.now() + SLICE_MS;
  for (let index = 0; index < count; index++) {
    work(index);
    if (index % ITEMS_PER_CLOCK === 0 && performance.now() >= until) {
      await nextTurn();
      until = performance.now() + SLICE_MS;
    }
  }
}

let lastTurn: Promise<void> = Promise.resolve();

function nextTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => new Promise((resume) => setTimeout(resume, TURN_MS)));
  return lastTurn;
}
