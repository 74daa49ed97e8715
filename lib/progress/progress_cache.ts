import { BoundedCache } from "@/lib/bounded_cache.ts";
import { isOver } from "@/lib/campaigns/progress.ts";
import type { ProgressAnswer, VolumeState } from "@/lib/campaigns/types.ts";

/** Which volume's progress an answer is about, who asked, and when in the volume's life. */
export interface ProgressKey {
  readonly user: string;
  /** The run it belongs to: a later run of the same volume is another thing. */
  readonly run: string;
  readonly url: string;
  readonly state: VolumeState;
}

/** How long an answer is shown again (spec, Limits), ms. */
export const RUNNING_LIFETIME_MS = 5_000;
export const OVER_LIFETIME_MS = 3_600_000;

const CAPACITY = 20_000;

/**
 * What the results store answered, per user: what one may read is no business of another. Files of a volume that is
 * over no longer change, so that also their absence and a refusal are kept for long.
 */
export class ProgressCache {
  readonly #entries: BoundedCache<string, { readonly answer: ProgressAnswer; readonly until: number }>;
  readonly #now: () => number;

  /** @param now ms since 1970 */
  constructor(now: () => number, capacity = CAPACITY) {
    this.#now = now;
    this.#entries = new BoundedCache(capacity);
  }

  get(key: ProgressKey): ProgressAnswer | undefined {
    const entry = this.#entries.get(nameOf(key));
    return entry && this.#now() < entry.until ? entry.answer : undefined;
  }

  /** Keeps an answer; that a store did not answer is not one. */
  set(key: ProgressKey, answer: ProgressAnswer): void {
    if (!answer.answered) return;
    const lifetime = isOver(key.state) ? OVER_LIFETIME_MS : RUNNING_LIFETIME_MS;
    this.#entries.set(nameOf(key), { answer, until: this.#now() + lifetime });
  }
}

/** The state is part of the name, so that what was read of a running volume is not taken for its ending. */
function nameOf({ user, run, url, state }: ProgressKey): string {
  return JSON.stringify([user, run, url, state]);
}
