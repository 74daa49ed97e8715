import { LRUCache } from "lru-cache";
import { rfc3339 } from "./instants.ts";
import { isOfEarlierAttempt, updatedInstant, withAge } from "./progress.ts";
import { openableSource } from "./source_url.ts";
import type { ProgressAnswer, Reason, StoredProgress, VolumeLinks, VolumeState, VolumeView } from "./types.ts";
import type { VolumeStates } from "./volume_states.ts";
import type { VolumeList } from "./volumes.ts";

/** Rows whose unchanging parts are cached: a page of the usual size and the rows that the summary shows beside it. */
export const CACHED_ROWS = 256;

/**
 * An active volume without progress for longer is shown as stalled, ms. A worker writes after each page and each change of
 * its stage, and the slowest pages take a few minutes.
 */
export const STALLED_AFTER_MS = 10 * 60_000;

/**
 * The volumes of a campaign as a response shows them. The parts of a row that stay the same between responses are cached
 * for the rows used last, so that a polled page costs little and leaves little garbage.
 */
export class VolumeRows {
  readonly #volumes: VolumeList;
  readonly #states: VolumeStates;
  readonly #links: (id: string) => VolumeLinks;
  readonly #rows = new LRUCache<number, Row>({ max: CACHED_ROWS });

  constructor(volumes: VolumeList, states: VolumeStates, links: (id: string) => VolumeLinks) {
    this.#volumes = volumes;
    this.#states = states;
    this.#links = links;
  }

  /** The id of a volume. @throws RangeError beyond the last one */
  id(index: number): string {
    return this.#rows.get(index)?.fixed.id ?? this.#volumes.id(index);
  }

  /** A volume with its progress, whose age is that at `now` (ms since 1970). @throws RangeError beyond the last one */
  view(index: number, answer: ProgressAnswer | undefined, now: number): VolumeView {
    const row = this.#row(index);
    const { fixed, reason } = row;
    const read = fixed.state === "pending" ? undefined : answer;
    const progress = read?.progress ? withAge(read.progress, now, updatedOf(row, read.progress)) : null;
    const forbidden = read?.forbidden ?? false;
    const stalledSince = fixed.state === "active" && progress ? stalledAt(row, now) : null;
    const view = { ...fixed, progress, forbidden, stalledSince };
    return reason ? { ...view, reason } : view;
  }

  #row(index: number): Row {
    const cached = this.#rows.get(index);
    if (cached) return cached;
    const { id, source } = this.#volumes.line(index);
    const state = this.#states.states[index];
    const row: Row = {
      fixed: { index, id, state, ...this.#links(id), sourceUrl: openableSource(source) },
      reason: this.#states.reason(index),
      attemptAt: this.#states.attemptAt(index),
      progress: null,
      updated: null,
    };
    this.#rows.set(index, row);
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
  readonly attemptAt: number | null;
  /** The progress shown last and the instant of its update, ms since 1970: a cached file is shown many times. */
  progress: StoredProgress | null;
  updated: number | null;
}

function stalledAt({ updated, attemptAt }: Row, now: number): string | null {
  if (updated === null || isOfEarlierAttempt(updated, attemptAt)) return null;
  return now - updated > STALLED_AFTER_MS ? rfc3339(updated) : null;
}

function updatedOf(row: Row, progress: StoredProgress): number | null {
  if (row.progress !== progress) {
    row.progress = progress;
    row.updated = updatedInstant(progress);
  }
  return row.updated;
}
