import { type ReadonlySignal, signal } from "@preact/signals";
import { LRUCache } from "lru-cache";

import { fetchXml } from "@/lib/pages/browser/fetch_text_client.ts";
import { CancelableReads } from "@/lib/pages/browser/read_queue_client.ts";
import { saveFile } from "@/lib/pages/browser/save_file_client.ts";
import { runSteps } from "@/lib/pages/browser/steps_client.ts";
import type { AltoPage } from "@/lib/pages/alto/alto_page.ts";
import { readingText } from "@/lib/pages/alto/line_text.ts";
import { MAX_ALTO_CHARACTERS, readAltoInSteps } from "@/lib/pages/alto/read_alto.ts";
import type { Canvas } from "@/lib/pages/iiif/manifest.ts";
import type { TextProblem } from "./viewer_sentences.ts";
import { type TextLine, textLines } from "./viewer_text.ts";

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
  /** Keyed by address. */
  readonly #texts = new LRUCache<string, ReadonlySignal<PageText>>({ max: MAX_CACHED });

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

  /** The text of a page once it is read, whichever page is shown by then. */
  async whenRead(canvas: TextCanvas): Promise<PageText | null> {
    const url = canvas.altoSources[0]?.href;
    if (url === undefined) return null;
    const known = this.#texts.get(url)?.peek();
    // A reading that is under way is canceled when its page is left.
    return known && known.kind !== "reading" ? known : await this.#read(url, canvas, new AbortController().signal);
  }

  /** Drops a text that could not be read, so that it is read again. */
  forget(url: string): void {
    this.#texts.delete(url);
  }

  /** Cancels the reading of all texts but those of some canvases. */
  cancelAllBut(canvases: readonly TextCanvas[]): void {
    const urls = new Set(canvases.flatMap(({ altoSources }) => altoSources.slice(0, 1).map(({ href }) => href)));
    for (const url of this.#reads.cancelAllBut(urls)) this.#texts.delete(url);
  }

  async #read(url: string, canvas: TextCanvas, signal: AbortSignal): Promise<PageText> {
    const fetched = await fetchXml(url, { fetch: this.#fetch, maxBytes: MAX_ALTO_CHARACTERS, signal });
    if (!fetched.ok) return { kind: "problem", problem: fetched.problem, url };
    const read = await runSteps(readAltoInSteps(fetched.text), signal);
    if (read === null) return { kind: "reading" };
    if (!read.ok) return { kind: "problem", problem: read.problem, url };
    return { kind: "text", page: read.page, lines: textLines(read.page, canvas), url };
  }
}

/** Saves the text of a page as a file, once it is read. @returns false where it cannot be read */
export async function saveText(texts: PageTexts, canvas: Canvas): Promise<boolean> {
  const text = await texts.whenRead(canvas);
  if (text?.kind !== "text") return false;
  saveFile(`${canvas.label}.txt`, readingText(text.page), "text/plain");
  return true;
}
