/** Counts what is under way, by key. A key without anything under way takes no room. */
export class InFlight {
  readonly #counts = new Map<string, number>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** How many are under way. */
  count(key = ""): number {
    return this.#counts.get(key) ?? 0;
  }

  /** Takes a place; returns a function that releases it, once however often it is called, or null when all are taken. */
  enter(key = ""): (() => void) | null {
    const count = this.count(key);
    if (count >= this.#max) return null;
    this.#counts.set(key, count + 1);
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      const left = this.count(key) - 1;
      if (left > 0) this.#counts.set(key, left);
      else this.#counts.delete(key);
    };
  }
}
