interface Waiting {
  readonly owner: string;
  readonly begin: () => void;
}

/**
 * Limits how much of something runs at a time, fairly between owners: a slot that becomes free goes to the owner of whom
 * the least runs, and among equals to the one that has waited for longest.
 *
 * An owner of whom nothing runs never waits, so that one whose slots are held for long holds up no other. Each owner may
 * therefore exceed the limit by one.
 */
export class FairSlots {
  readonly #max: number;
  readonly #ofOwner = new Map<string, number>();
  readonly #waiting: Waiting[] = [];
  #taken = 0;

  constructor(max: number) {
    this.#max = max;
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
    return this.#taken < this.#max || this.#count(owner) === 0;
  }

  #count(owner: string): number {
    return this.#ofOwner.get(owner) ?? 0;
  }
}
