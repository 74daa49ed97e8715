import { type ReadonlySignal, signal } from "@preact/signals";
import { LRUCache } from "lru-cache";

import type { AltoPage } from "@/lib/presentation/alto/alto_page.ts";
import { MAX_ALTO_CHARACTERS, readAltoInSteps } from "@/lib/presentation/alto/read_alto.ts";
import type { Canvas } from "@/lib/presentation/iiif/manifest.ts";
import type { TextProblem } from "@/lib/presentation/viewer_sentences.ts";
import { type TextLine, textLines } from "@/lib/presentation/viewer_text.ts";
import { fetchXml } from "@/lib/client/fetch_text.ts";
import { runSteps } from "@/lib/client/run_steps.ts";
import { CancelableReads } from "./cancelable_reads.ts";

/** Texts that are cached. */
const MAX_CACHED = 20;
/** Texts that are read at a time: those of two pages side by side, and one that is saved. */
const MAX_READS = 3;

type TextCanvas = Pick<Canvas, "altoSources" | "width" | "height">;

/** The text of a page, as far as it is read. */
export type PageText =
  | { readonly kind: "reading" }
  | { readonly kind: "problem"; readonly problem: TextProblem; readonly url: string }
  | { readonly kind: "text"; readonly page: AltoPage; readonly lines: readonly TextLine[]; readonly url: string };

/** Reads the ALTO files of pages, each once. */
export class PageTexts {
  readonly #fetch: typeof fetch;
  readonly #reads = new CancelableReads(MAX_READS);
  /** By address. */
  readonly #texts = new LRUCache<string, ReadonlySignal<PageText>>({ max: MAX_CACHED });
  /** Addresses of texts that a caller waits for, whichever page is shown. */
  readonly #awaited = new Set<string>();

  constructor(request: typeof fetch) {
    this.#fetch = request;
  }

  /** The text of a canvas; null where none is published. */
  of(canvas: TextCanvas): ReadonlySignal<PageText> | null {
    const url = canvas.altoSources[0]?.href;
    if (url === undefined) return null;
    const cached = this.#texts.get(url);
    if (cached) return cached;
    const text = signal<PageText>({ kind: "reading" });
    this.#texts.set(url, text);
    // A text that is canceled belongs to a page that is no longer shown.
    this.#reads.run(url, true, (signal) => this.#read(url, canvas, signal)).then((read) => text.value = read, () => {});
    return text;
  }

  /** The same once it is read, which nothing cancels. Reading has an end: the fetch of it is bounded in time. */
  async whenRead(canvas: TextCanvas): Promise<PageText | null> {
    const text = this.of(canvas);
    const url = canvas.altoSources[0]?.href;
    if (text === null || text.peek().kind !== "reading") return text?.peek() ?? null;
    this.#awaited.add(url);
    const { promise, resolve } = Promise.withResolvers<PageText>();
    const stop = text.subscribe((read) => read.kind !== "reading" && resolve(read));
    const read = await promise;
    stop();
    this.#awaited.delete(url);
    return read;
  }

  /** Drops a text that could not be read, so that it is read again. */
  forget(url: string): void {
    this.#texts.delete(url);
  }

  /** Cancels the reading of all texts but those of some canvases. */
  cancelAllBut(canvases: readonly TextCanvas[]): void {
    const urls = new Set(canvases.flatMap(({ altoSources }) => altoSources.slice(0, 1).map(({ href }) => href)));
    for (const url of this.#reads.cancelAllBut(new Set([...urls, ...this.#awaited]))) this.#texts.delete(url);
  }

  async #read(url: string, canvas: TextCanvas, signal: AbortSignal): Promise<PageText> {
    const fetched = await fetchXml(url, { fetch: this.#fetch, maxBytes: MAX_ALTO_CHARACTERS, signal });
    if (!fetched.ok) return { kind: "problem", problem: fetched.problem, url };
    const read = await runSteps(readAltoInSteps(fetched.text), signal);
    if (!read.ok) return { kind: "problem", problem: read.problem, url };
    return { kind: "text", page: read.page, lines: textLines(read.page, canvas), url };
  }
}
