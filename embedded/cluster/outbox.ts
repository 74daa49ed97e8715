import type { ResultFile } from "./result_files.ts";

/** Writes the files of the workers to a store. What is rejected is retried later. */
export interface ResultsWriter {
  put(file: ResultFile): Promise<void>;
  /** Removes files; those that do not exist count as removed. */
  remove(keys: readonly string[]): Promise<void>;
}

/** The most files of one removal. */
const MAX_REMOVED = 500;

/** Concurrent writes. */
const MAX_CONCURRENT_WRITES = 4;

/** So many waves of running work in a row, while files of the past wait: fast campaigns would let none of those through. */
const MAX_LIVE_WAVES = 3;

/** Files of running work are written before those of the simulated past, and of those the states first. */
export type Lane = "live" | "states" | "rest";
const LANES: readonly Lane[] = ["live", "states", "rest"];
const PAST_FIRST: readonly Lane[] = ["states", "rest", "live"];

/**
 * Files to be written to the store, and those to be removed from it afterwards. Bodies are created when they are written; a
 * newer version of a file replaces a pending one. A volume's manifest is written after all files that were pushed before it.
 */
export class Outbox {
  readonly #lanes: Readonly<Record<Lane, Map<string, ResultFile>>> = {
    live: new Map(),
    states: new Map(),
    rest: new Map(),
  };
  readonly #removals = new Set<string>();
  /** Keys that are being written. */
  readonly #inFlight = new Set<string>();
  #draining: Promise<void> = Promise.resolve();
  #liveWaves = 0;

  constructor(readonly writer: ResultsWriter) {}

  /** The number of files that are not in the store yet, or still in it. */
  get waiting(): number {
    return LANES.reduce((sum, lane) => sum + this.#lanes[lane].size, this.#inFlight.size + this.#removals.size);
  }

  /** Whether all of these files are written. */
  hasWritten(keys: Iterable<string>): boolean {
    for (const key of keys) {
      if (this.#inFlight.has(key) || LANES.some((lane) => this.#lanes[lane].has(key))) return false;
    }
    return true;
  }

  push(file: ResultFile, lane: Lane): void {
    this.#cancel(file.key);
    this.#lanes[lane].set(file.key, file);
  }

  /** Removes files from the store, those included that are still to be written. */
  remove(keys: Iterable<string>): void {
    for (const key of keys) {
      this.#cancel(key);
      this.#removals.add(key);
    }
  }

  #cancel(key: string): void {
    for (const lane of LANES) this.#lanes[lane].delete(key);
    this.#removals.delete(key);
  }

  /** Writes until the lanes are empty. Rejects with the first error of the writer; failed files stay pending. */
  drain(lanes: readonly Lane[] = LANES): Promise<void> {
    // One at a time: two writers of one key could overtake each other.
    const drained = this.#draining.then(() => this.#drain(lanes));
    this.#draining = drained.catch(() => {});
    return drained;
  }

  async #drain(lanes: readonly Lane[]): Promise<void> {
    for (let wave = this.#nextWave(lanes); wave.length > 0; wave = this.#nextWave(lanes)) {
      const outcomes = await Promise.allSettled(wave.map(async ({ file, lane }) => {
        this.#inFlight.add(file.key);
        try {
          await this.writer.put(file);
        } catch (error) {
          // Unless a newer version is pending, or its removal.
          const isReplaced = LANES.some((other) => this.#lanes[other].has(file.key)) || this.#removals.has(file.key);
          if (!isReplaced) this.#requeue(file, lane);
          throw error;
        } finally {
          this.#inFlight.delete(file.key);
        }
      }));
      const failed = outcomes.find((outcome) => outcome.status === "rejected");
      if (failed) throw failed.reason;
    }
    await this.#drainRemovals();
  }

  async #drainRemovals(): Promise<void> {
    while (this.#removals.size > 0) {
      const keys = [...this.#removals].slice(0, MAX_REMOVED);
      await this.writer.remove(keys);
      for (const key of keys) this.#removals.delete(key);
    }
  }

  #nextWave(lanes: readonly Lane[]): { file: ResultFile; lane: Lane }[] {
    const order = this.#liveWaves < MAX_LIVE_WAVES ? LANES : PAST_FIRST;
    const lane = order.find((candidate) => lanes.includes(candidate) && this.#lanes[candidate].size > 0);
    if (lane === undefined) return [];
    this.#liveWaves = lane === "live" ? this.#liveWaves + 1 : 0;
    const wave: { file: ResultFile; lane: Lane }[] = [];
    for (const file of this.#lanes[lane].values()) {
      const marker = file.key.endsWith("/manifest.json");
      if (wave.length >= MAX_CONCURRENT_WRITES || (marker && wave.length > 0)) break;
      this.#lanes[lane].delete(file.key);
      wave.push({ file, lane });
      if (marker) break;
    }
    return wave;
  }

  /** Puts a file back to the front, so that the order of files stays. */
  #requeue(file: ResultFile, lane: Lane): void {
    const others = [...this.#lanes[lane]];
    this.#lanes[lane].clear();
    this.#lanes[lane].set(file.key, file);
    for (const [key, other] of others) this.#lanes[lane].set(key, other);
  }
}
