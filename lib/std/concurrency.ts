/**
 * Calls `work` with each item in order, at most `concurrency` calls at a time. No call starts after one has failed.
 *
 * @throws the first failure, while earlier calls may still run
 */
export async function forEachConcurrent<T>(
  items: Iterable<T>,
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  let failed = false;
  const worker = async () => {
    for (let next = rest.next(); !failed && !next.done; next = rest.next()) {
      try {
        await work(next.value);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

interface Waiting {
  readonly owner: string;
  readonly begin: () => void;
}

/**
 * Limits concurrent work fairly between owners: a free slot goes to the waiting owner with the fewest slots, and among
 * equals to the one that has waited longest.
 *
 * An owner without a slot never waits, so that long work of others does not block it. The limit may therefore be exceeded
 * by one slot for each owner.
 */
export class FairSlots {
  readonly #ofOwner = new Map<string, number>();
  readonly #waiting: Waiting[] = [];
  #taken = 0;

  constructor(private readonly max: number) {
  }

  /**
   * Takes a slot as soon as there is one.
   *
   * @param signal ends the wait
   * @returns a function that releases the slot, once however often it is called
   * @throws the reason of the signal
   */
  async enter(owner: string, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted();
    if (this.#isFree(owner)) return this.#take(owner);
    const { promise, resolve, reject } = Promise.withResolvers<() => void>();
    const waiting: Waiting = { owner, begin: () => resolve(this.#take(owner)) };
    this.#waiting.push(waiting);
    const abort = () => {
      const at = this.#waiting.indexOf(waiting);
      if (at < 0) return;
      this.#waiting.splice(at, 1);
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", abort, { once: true });
    try {
      return await promise;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  #take(owner: string): () => void {
    this.#taken++;
    this.#ofOwner.set(owner, this.#count(owner) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#taken--;
      const left = this.#count(owner) - 1;
      if (left > 0) this.#ofOwner.set(owner, left);
      else this.#ofOwner.delete(owner);
      this.#beginNext();
    };
  }

  #beginNext(): void {
    let first = -1;
    let fewest = Infinity;
    for (const [at, { owner }] of this.#waiting.entries()) {
      const count = this.#count(owner);
      if (count >= fewest) continue;
      first = at;
      fewest = count;
    }
    if (first < 0 || !this.#isFree(this.#waiting[first].owner)) return;
    this.#waiting.splice(first, 1)[0].begin();
  }

  #isFree(owner: string): boolean {
    return this.#taken < this.max || this.#count(owner) === 0;
  }

  #count(owner: string): number {
    return this.#ofOwner.get(owner) ?? 0;
  }
}

/** Longest time of computing before yielding, ms. */
const SLICE_MS = 1;
/** Delay of a yield, ms: after a shorter one, or an immediate, the loop would continue before pending I/O. */
const TURN_MS = 2;
/** Reading the clock costs about as much as a small item. */
const ITEMS_PER_CLOCK = 4;

/**
 * Calls `work` with 0 to `count` - 1, yielding to other work of the process. Several such loops take turns, one slice at a
 * time, so that other work waits for one slice only.
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
