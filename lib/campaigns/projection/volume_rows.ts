import { updatedInstant, withAge } from "./progress.ts";
import { openableSource } from "./source_url.ts";
import type { ProgressAnswer, Reason, StoredProgress, VolumeLinks, VolumeState, VolumeView } from "./types.ts";
import type { VolumeStates } from "./volume_states.ts";
import type { VolumeList } from "./volumes.ts";

/** Rows whose unchanging parts are remembered: a page as it is mostly asked for, with what is shown beside it. */
export const KEPT_ROWS = 256;

/**
 * The volumes of a campaign as an answer shows them. What does not change from one answer to the next is worked out once
 * for the rows that were shown last, so that a page that is polled costs little and leaves little to collect.
 */
export class VolumeRows {
  readonly #volumes: VolumeList;
  readonly #states: VolumeStates;
  readonly #links: (id: string) => VolumeLinks;
  readonly #kept = new Map<number, Row>();

  constructor(volumes: VolumeList, states: VolumeStates, links: (id: string) => VolumeLinks) {
    this.#volumes = volumes;
    this.#states = states;
    this.#links = links;
  }

  /** The id of a volume. @throws RangeError beyond the last one */
  id(index: number): string {
    return this.#kept.get(index)?.fixed.id ?? this.#volumes.id(index);
  }

  /** A volume with its progress, whose age is that at `now` (ms since 1970). @throws RangeError beyond the last one */
  view(index: number, answer: ProgressAnswer | undefined, now: number): VolumeView {
    const row = this.#row(index);
    const { fixed, reason } = row;
    const known = fixed.state === "pending" ? undefined : answer;
    const progress = known?.progress ? withAge(known.progress, now, updatedOf(row, known.progress)) : null;
    const forbidden = known?.forbidden ?? false;
    return reason ? { ...fixed, progress, forbidden, reason } : { ...fixed, progress, forbidden };
  }

  #row(index: number): Row {
    const kept = this.#kept.get(index);
    if (kept) return kept;
    const { id, source } = this.#volumes.line(index);
    const state = this.#states.states[index];
    const row: Row = {
      fixed: { index, id, state, ...this.#links(id), sourceUrl: openableSource(source) },
      reason: this.#states.reason(index),
      progress: null,
      updated: null,
    };
    if (this.#kept.size >= KEPT_ROWS) {
      const [oldest] = this.#kept.keys();
      this.#kept.delete(oldest);
    }
    this.#kept.set(index, row);
    return row;
  }
}

interface Row {
  readonly fixed: VolumeLinks & {
    readonly index: number;
    readonly id: string;
    readonly state: VolumeState;
    readonly sourceUrl: string | null;
  };
  readonly reason: Reason | null;
  /** What was shown last, and when it was updated, ms since 1970: a kept file is shown many times. */
  progress: StoredProgress | null;
  updated: number | null;
}

function updatedOf(row: Row, progress: StoredProgress): number | null {
  if (row.progress !== progress) {
    row.progress = progress;
    row.updated = updatedInstant(progress);
  }
  return row.updated;
}
