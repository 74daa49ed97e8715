import { computed, type ReadonlySignal, signal } from "@preact/signals";

import { isShown, type LevelFilter, type LogLine } from "./log_lines.ts";
import {
  blocksOf,
  findLinkedLine,
  type LineLink,
  type LineSearch,
  placeOfHit,
  type RowBlock,
  rowsOf,
  searchLines,
} from "./log_rows.ts";
import type { LogStage, RunLog } from "./run_log.ts";

/** A stage with its visible rows. */
interface ShownStage {
  readonly stage: LogStage;
  /** The same for the same stage of a log that has grown. */
  readonly key: string;
  readonly blocks: readonly RowBlock[];
  readonly isLast: boolean;
}

/** View state of a run log: open stages, level, times, search, and the marked line. */
export class LogView {
  readonly filter = signal<LevelFilter>("all");
  readonly query = signal("");
  /** Times are those since the start of the log. */
  readonly sinceStart = signal(false);
  /** Number of the line that a link has named; null: none. */
  readonly marked = signal<number | null>(null);
  /** Number of the line of the current hit; null: none. */
  readonly hit = signal<number | null>(null);
  /** The line to scroll to. A new object for each request, so that the same line can be requested again. */
  readonly goal = signal<{ readonly number: number } | null>(null);
  /** Numbers of the first lines of requests that are unfolded. */
  readonly openFolds = signal<ReadonlySet<number>>(new Set());
  readonly stages: ReadonlySignal<readonly ShownStage[]>;
  readonly search: ReadonlySignal<LineSearch | null>;

  readonly #log: ReadonlySignal<RunLog | null>;
  readonly #open = signal<ReadonlyMap<string, boolean>>(new Map());

  constructor(log: ReadonlySignal<RunLog | null>) {
    this.#log = log;
    this.stages = computed(() => {
      const stages = log.value?.stages ?? [];
      return stages.flatMap((stage, place) => {
        const blocks = blocksOf(rowsOf(stage, this.filter.value));
        return blocks.length === 0
          ? []
          : [{ stage, blocks, key: keyOf(stage, place), isLast: stage === stages.at(-1) }];
      });
    });
    this.search = computed(() => searchLines(log.value?.stages ?? [], this.filter.value, this.query.value));
  }

  /** Whether a stage is unfolded: as the reader wants it, else one with trouble, and the one that is at work. */
  isOpen({ stage, key, isLast }: ShownStage, isOver: boolean): boolean {
    return this.#open.value.get(key) ?? (stage.errors + stage.warnings > 0 || (isLast && !isOver));
  }

  setOpen(key: string, open: boolean): void {
    this.#open.value = new Map(this.#open.value).set(key, open);
  }

  setAllOpen(open: boolean): void {
    this.#open.value = new Map(this.stages.value.map(({ key }) => [key, open]));
  }

  setFoldOpen(first: number, open: boolean): void {
    const folds = new Set(this.openFolds.value);
    if (open) folds.add(first);
    else folds.delete(first);
    this.openFolds.value = folds;
  }

  setFilter(filter: LevelFilter): void {
    this.filter.value = filter;
    this.hit.value = null;
  }

  setQuery(query: string): void {
    this.query.value = query;
    this.hit.value = null;
  }

  /** Goes to the next hit, or back; from the last one to the first. */
  goToHit(direction: 1 | -1): void {
    const lines = this.search.value?.lines ?? [];
    if (lines.length === 0) return;
    const { value: hit } = this.hit;
    const place = hit === null ? (direction === 1 ? -1 : 0) : placeOfHit(lines, hit);
    const next = lines[(place + direction + lines.length) % lines.length];
    this.hit.value = next;
    this.#show(next);
  }

  /**
   * Goes to the line that a link means and marks it.
   *
   * @returns false where the log that is shown has no such line
   */
  goToLink(link: LineLink): boolean {
    const log = this.#log.value;
    const line = log && findLinkedLine(log, link);
    if (!line) return false;
    if (!isShown(line, this.filter.value)) this.setFilter("all");
    this.mark(line);
    this.#show(line.number);
    return true;
  }

  /** Marks a line that is on the screen. */
  mark({ number }: LogLine): void {
    this.marked.value = number;
  }

  /** Unfolds everything around a line, and requests to scroll to it. */
  #show(number: number): void {
    for (const { key, blocks } of this.stages.value) {
      const block = blocks.find(({ first, last }) => first <= number && number <= last);
      if (!block) continue;
      this.setOpen(key, true);
      const row = block.rows.find((row) => "requests" in row && row.requests.some((line) => line.number === number));
      if (row && "requests" in row) this.setFoldOpen(row.requests[0].number, true);
    }
    this.goal.value = { number };
  }
}

/** The first line of the first stage changes when a long log grows. */
function keyOf({ name, folds }: LogStage, place: number): string {
  return place === 0 ? `first ${name}` : `${folds[0].lines[0].number} ${name}`;
}
