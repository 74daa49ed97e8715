import { isOver } from "@/lib/campaigns/projection/progress.ts";
import type { ProgressAnswer, VolumeState } from "@/lib/campaigns/projection/types.ts";

/** Whose answers are meant, and of which run: what one may read is no business of another, a later run another thing. */
interface ProgressScope {
  /** The session's digest. A user's name would not do: it may be given to somebody else. */
  readonly session: string;
  readonly namespace: string;
  readonly pipeline: string;
  readonly run: string;
}

/** Which volume of a run an answer is about, and when in the volume's life. */
export interface ProgressKey {
  readonly id: string;
  readonly state: VolumeState;
}

/** The answers of one session and run. */
interface ScopedProgress {
  get(key: ProgressKey): ProgressAnswer | undefined;
  /** Keeps an answer; that a store did not answer is not one. */
  set(key: ProgressKey, answer: ProgressAnswer): void;
}

/** How long an answer is shown again (spec, Limits), ms. */
export const RUNNING_LIFETIME_MS = 5_000;
export const OVER_LIFETIME_MS = 3_600_000;

const CAPACITY = 20_000;

/**
 * What the results store answered, per session. Files of a volume that is over no longer change, so that also their absence
 * and a refusal are kept for long. Beyond the capacity, answers of the run that was asked for least recently go first.
 */
export class ProgressCache {
  readonly #scopes = new Map<string, ScopeEntries>();
  readonly #now: () => number;
  readonly #capacity: number;
  #size = 0;

  /** @param now ms since 1970 */
  constructor(now: () => number, capacity = CAPACITY) {
    this.#now = now;
    this.#capacity = capacity;
  }

  /** Answers that are kept. */
  get size(): number {
    return this.#size;
  }

  /**
   * The answers of one session and run. Thousands of volumes are looked up in it by names that are there already: names made
   * for each look-up would be most of what a request leaves to collect.
   */
  of({ session, namespace, pipeline, run }: ProgressScope): ScopedProgress {
    const name = JSON.stringify([session, namespace, pipeline, run]);
    const known = this.#scopes.get(name);
    if (known) this.#touch(name, known);
    return {
      get: ({ id, state }) => {
        const entry = this.#scopes.get(name)?.get(state)?.get(id);
        return entry && this.#now() < entry.until ? entry.answer : undefined;
      },
      set: (key, answer) => {
        if (!answer.answered) return;
        const lifetime = isOver(key.state) ? OVER_LIFETIME_MS : RUNNING_LIFETIME_MS;
        this.#set(name, key, { answer, until: this.#now() + lifetime });
      },
    };
  }

  #touch(name: string, entries: ScopeEntries): void {
    this.#scopes.delete(name);
    this.#scopes.set(name, entries);
  }

  #set(name: string, { id, state }: ProgressKey, entry: Entry): void {
    const entries: ScopeEntries = this.#scopes.get(name) ?? new Map();
    this.#touch(name, entries);
    const ofState = entries.get(state) ?? new Map<string, Entry>();
    entries.set(state, ofState);
    if (!ofState.delete(id)) this.#size++;
    ofState.set(id, entry);
    if (this.#size > this.#capacity) this.#forgetOne();
  }

  #forgetOne(): void {
    for (const [name, entries] of this.#scopes) {
      for (const [state, ofState] of entries) {
        const [oldest] = ofState.keys();
        ofState.delete(oldest);
        this.#size--;
        if (ofState.size === 0) entries.delete(state);
        if (entries.size === 0) this.#scopes.delete(name);
        return;
      }
    }
  }
}

interface Entry {
  readonly answer: ProgressAnswer;
  /** ms since 1970 */
  readonly until: number;
}

/** By state, so that what was read of a running volume is not taken for its ending, and by id. */
type ScopeEntries = Map<VolumeState, Map<string, Entry>>;
