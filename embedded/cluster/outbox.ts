import type { ResultFile } from "./result_files.ts";

/** Where the files of the workers go; a store is behind it. A rejected `put` is tried again later. */
export interface ResultsWriter {
  put(key: string, body: Uint8Array, contentType: string): Promise<void>;
}

/** How many files are written at once. */
const WRITTEN_AT_ONCE = 4;

/** Live work is written before what the first start finds already done, and of that the states before the rest. */
export type Lane = "live" | "states" | "rest";
const LANES: readonly Lane[] = ["live", "states", "rest"];

/**
 * Files on their way to the store. What waits is a small note, the body is made when it is written; a newer version of
 * a file takes the place of one that still waits. A volume's manifest is written after all that was pushed before it.
 */
export class Outbox {
  readonly #lanes: Readonly<Record<Lane, Map<string, ResultFile>>> = {
    live: new Map(),
    states: new Map(),
    rest: new Map(),
  };
  /** Keys that are being written. */
  readonly #underWay = new Set<string>();
  #draining: Promise<void> = Promise.resolve();

  constructor(readonly writer: ResultsWriter) {}

  /** How many files are not in the store yet. */
  get waiting(): number {
    return LANES.reduce((sum, lane) => sum + this.#lanes[lane].size, this.#underWay.size);
  }

  /** Whether none of these files is still on its way. */
  hasWritten(keys: Iterable<string>): boolean {
    for (const key of keys) {
      if (this.#underWay.has(key) || LANES.some((lane) => this.#lanes[lane].has(key))) return false;
    }
    return true;
  }

  push(file: ResultFile, lane: Lane): void {
    for (const other of LANES) this.#lanes[other].delete(file.key);
    this.#lanes[lane].set(file.key, file);
  }

  /** Writes until nothing of the lanes waits. Rejects with the first refusal of the writer; what was refused waits on. */
  drain(lanes: readonly Lane[] = LANES): Promise<void> {
    // One at a time: two writers of one key could overtake each other.
    const drained = this.#draining.then(() => this.#drain(lanes));
    this.#draining = drained.catch(() => {});
    return drained;
  }

  async #drain(lanes: readonly Lane[]): Promise<void> {
    for (let wave = this.#nextWave(lanes); wave.length > 0; wave = this.#nextWave(lanes)) {
      const outcomes = await Promise.allSettled(wave.map(async ({ file, lane }) => {
        this.#underWay.add(file.key);
        try {
          await this.writer.put(file.key, file.body(), file.contentType);
        } catch (error) {
          // Unless a newer version waits by now.
          if (!LANES.some((other) => this.#lanes[other].has(file.key))) this.#putBack(file, lane);
          throw error;
        } finally {
          this.#underWay.delete(file.key);
        }
      }));
      const refused = outcomes.find((outcome) => outcome.status === "rejected");
      if (refused) throw refused.reason;
    }
  }

  #nextWave(lanes: readonly Lane[]): { file: ResultFile; lane: Lane }[] {
    const wave: { file: ResultFile; lane: Lane }[] = [];
    for (const lane of LANES.filter((candidate) => lanes.includes(candidate))) {
      for (const file of this.#lanes[lane].values()) {
        const marker = file.key.endsWith("/manifest.json");
        if (wave.length >= WRITTEN_AT_ONCE || (marker && wave.length > 0)) break;
        this.#lanes[lane].delete(file.key);
        wave.push({ file, lane });
        if (marker) return wave;
      }
      if (wave.length > 0) return wave;
    }
    return wave;
  }

  /** Back to the front, so that the order among files stays. */
  #putBack(file: ResultFile, lane: Lane): void {
    const others = [...this.#lanes[lane]];
    this.#lanes[lane].clear();
    this.#lanes[lane].set(file.key, file);
    for (const [key, other] of others) this.#lanes[lane].set(key, other);
  }
}
