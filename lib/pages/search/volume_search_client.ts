import { computed, signal } from "@preact/signals";

import { readAltoInSteps } from "@/lib/pages/alto/read_alto.ts";
import type { Canvas } from "@/lib/pages/iiif/manifest.ts";
import { VolumeIndex } from "./volume_index.ts";

/** Files that are fetched at the same time. */
const CONCURRENCY = 3;
/** Files in a row that may fail before the reading ends: the server is gone, or the session is. */
export const MAX_FAILED_IN_A_ROW = 20;
/** Most hits that are shown. */
const MAX_HITS = 1000;

type FetchedText = { readonly ok: true; readonly text: string } | { readonly ok: false };

type SearchedCanvas = Pick<Canvas, "altoSources" | "width" | "height">;

interface VolumeSearchDeps {
  /** Reads one file within bounds of length and time. It does not throw. */
  readonly fetchText: (url: string, signal: AbortSignal) => Promise<FetchedText>;
  /** Waits for a moment when the browser has nothing else to do. */
  readonly idle: () => Promise<void>;
}

/** How far the texts of a volume are read. */
interface SearchProgress {
  /** Pages that have a text. */
  readonly total: number;
  readonly read: number;
  readonly failed: number;
  /** The memory for the texts is used up, so the rest is not read. */
  readonly isFull: boolean;
  readonly isReading: boolean;
}

const NOTHING_READ: SearchProgress = { total: 0, read: 0, failed: 0, isFull: false, isReading: false };

/** Searches the ALTO files of a volume. They are read while the reader of the volume idles, from the open page on. */
export class VolumeSearch {
  readonly progress = signal(NOTHING_READ);
  readonly query = signal("");
  readonly isFolded = signal(true);
  /** The hits in the pages that have been read so far. */
  readonly found = computed(() => {
    // Read for its changes: the index itself is no signal.
    this.progress.value;
    return this.#index.search(this.query.value, { isFolded: this.isFolded.value, limit: MAX_HITS });
  });

  readonly #deps: VolumeSearchDeps;
  #index = new VolumeIndex();
  #running: AbortController | null = null;
  #failedInARow = 0;
  /** Canvases of the current volume. */
  #canvases: readonly SearchedCanvas[] | null = null;
  /** Addresses of the texts that are not read yet or could not be read, by canvas. */
  #missing = new Map<number, string>();

  constructor(deps: VolumeSearchDeps) {
    this.#deps = deps;
  }

  /**
   * Reads the texts of a volume, those of another one are released. Of the volume that is read already, only the texts
   * that could not be read are tried again.
   *
   * @param from index of the canvas to read first
   */
  async start(canvases: readonly SearchedCanvas[], from: number): Promise<void> {
    if (canvases !== this.#canvases) this.#open(canvases);
    const { isReading, isFull } = this.progress.value;
    if (isReading || isFull || this.#missing.size === 0) return;
    const { signal } = this.#running = new AbortController();
    this.#failedInARow = 0;
    this.#report({ failed: 0, isReading: true });
    const texts = [...this.#missing];
    const first = Math.max(0, texts.findIndex(([canvas]) => canvas >= from));
    const queue = [...texts.slice(first), ...texts.slice(0, first)].values();
    await Promise.all(Array.from({ length: CONCURRENCY }, async () => {
      for (const [canvas, href] of queue) {
        await this.#deps.idle();
        if (signal.aborted || this.#isOver()) return;
        await this.#read(canvas, href, signal);
      }
    }));
    if (!signal.aborted) this.#report({ isReading: false });
  }

  /** Stops reading; texts that have been read can still be searched. */
  stop(): void {
    this.#running?.abort();
    this.#running = null;
    this.#canvases = null;
    this.#report({ isReading: false });
  }

  #open(canvases: readonly SearchedCanvas[]): void {
    this.stop();
    this.#canvases = canvases;
    this.#index = new VolumeIndex();
    this.#missing = new Map(
      canvases.flatMap(({ altoSources }, canvas) => altoSources.slice(0, 1).map(({ href }) => [canvas, href] as const)),
    );
    this.progress.value = { ...NOTHING_READ, total: this.#missing.size };
  }

  #isOver(): boolean {
    return this.progress.value.isFull || this.#failedInARow >= MAX_FAILED_IN_A_ROW;
  }

  async #read(canvas: number, href: string, signal: AbortSignal): Promise<void> {
    const fetched = await this.#deps.fetchText(href, signal);
    const page = fetched.ok && !signal.aborted ? await this.#parse(fetched.text, signal) : null;
    const extent = this.#canvases?.[canvas];
    if (signal.aborted || !extent || this.#isOver()) return;
    const { read, failed } = this.progress.value;
    this.#failedInARow = page === null ? this.#failedInARow + 1 : 0;
    if (page === null) return this.#report({ failed: failed + 1 });
    if (!this.#index.add(canvas, page, extent)) return this.#report({ isFull: true });
    this.#missing.delete(canvas);
    this.#report({ read: read + 1 });
  }

  /** A long file takes several moments. */
  async #parse(xml: string, signal: AbortSignal) {
    const steps = readAltoInSteps(xml);
    for (let step = steps.next();; step = steps.next()) {
      if (step.done) return step.value.ok ? step.value.page : null;
      await this.#deps.idle();
      if (signal.aborted) return null;
    }
  }

  #report(change: Partial<SearchProgress>): void {
    this.progress.value = { ...this.progress.value, ...change };
  }
}

/** Waits until the browser is idle, one second at most; without `requestIdleCallback` until the next task. */
export function browserIdle(): Promise<void> {
  return new Promise((resolve) => {
    if (typeof requestIdleCallback === "function") requestIdleCallback(() => resolve(), { timeout: 1000 });
    else setTimeout(resolve, 0);
  });
}
