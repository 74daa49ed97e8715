import { BoundedCache } from "@/lib/bounded_cache.ts";
import { isOver } from "@/lib/campaigns/progress.ts";
import type { ProgressAnswer, VolumeState } from "@/lib/campaigns/types.ts";

/** Whose answers are meant, and of which run: what one may read is no business of another, a later run another thing. */
export interface ProgressScope {
  readonly user: string;
  readonly namespace: string;
  readonly pipeline: string;
  readonly run: string;
}

/** Which volume of a run an answer is about, and when in the volume's life. */
export interface ProgressKey {
  readonly id: string;
  readonly state: VolumeState;
}

/** The answers of one user and run. */
export interface ScopedProgress {
  get(key: ProgressKey): ProgressAnswer | undefined;
  /** Keeps an answer; that a store did not answer is not one. */
  set(key: ProgressKey, answer: ProgressAnswer): void;
}

/** How long an answer is shown again (spec, Limits), ms. */
export const RUNNING_LIFETIME_MS = 5_000;
export const OVER_LIFETIME_MS = 3_600_000;

const CAPACITY = 20_000;

/**
 * What the results store answered, per user. Files of a volume that is over no longer change, so that also their absence
 * and a refusal are kept for long.
 */
export class ProgressCache {
  readonly #entries: BoundedCache<string, { readonly answer: ProgressAnswer; readonly until: number }>;
  readonly #now: () => number;

  /** @param now ms since 1970 */
  constructor(now: () => number, capacity = CAPACITY) {
    this.#now = now;
    this.#entries = new BoundedCache(capacity);
  }

  /** The answers of one user and run; thousands of volumes are looked up with the same scope. */
  of({ user, namespace, pipeline, run }: ProgressScope): ScopedProgress {
    const scope = JSON.stringify([user, namespace, pipeline, run]);
    // The state is part of the name, so that what was read of a running volume is not taken for its ending.
    const nameOf = ({ id, state }: ProgressKey) => `${scope}${state} ${id}`;
    return {
      get: (key) => {
        const entry = this.#entries.get(nameOf(key));
        return entry && this.#now() < entry.until ? entry.answer : undefined;
      },
      set: (key, answer) => {
        if (!answer.answered) return;
        const lifetime = isOver(key.state) ? OVER_LIFETIME_MS : RUNNING_LIFETIME_MS;
        this.#entries.set(nameOf(key), { answer, until: this.#now() + lifetime });
      },
    };
  }
}
