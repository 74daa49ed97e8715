import { type ReadonlySignal, signal } from "@preact/signals";

import type { AltoPage } from "@/lib/presentation/alto/alto_page.ts";
import { MAX_ALTO_CHARACTERS, readAltoInSteps } from "@/lib/presentation/alto/read_alto.ts";
import type { Canvas } from "@/lib/presentation/iiif/manifest.ts";
import type { TextProblem } from "@/lib/presentation/viewer_sentences.ts";
import { type TextLine, textLines } from "@/lib/presentation/viewer_text.ts";
import { fetchText } from "@/lib/client/fetch_text.ts";

/** Texts that are cached. */
const MAX_CACHED = 20;
/** How long the parser runs on without letting the page react, ms. */
const SLICE_MS = 8;

/** The text of a page, as far as it is read. */
export type PageText =
  | { readonly kind: "reading" }
  | { readonly kind: "problem"; readonly problem: TextProblem; readonly url: string }
  | { readonly kind: "text"; readonly page: AltoPage; readonly lines: readonly TextLine[]; readonly url: string };

/** Reads the ALTO files of pages, each once. */
export class PageTexts {
  readonly #fetch: typeof fetch;
  /** By address, the least recently used first. */
  readonly #texts = new Map<string, ReadonlySignal<PageText>>();

  constructor(request: typeof fetch) {
    this.#fetch = request;
  }

  /** The text of a canvas; null where none is published. */
  of(canvas: Canvas): ReadonlySignal<PageText> | null {
    const url = canvas.altoSources[0]?.href;
    if (url === undefined) return null;
    const text = this.#texts.get(url) ?? this.#begin(url, canvas);
    this.#texts.delete(url);
    this.#texts.set(url, text);
    if (this.#texts.size > MAX_CACHED) this.#texts.delete([...this.#texts.keys()][0]);
    return text;
  }

  /** Drops a text that could not be read, so that it is read again. */
  forget(url: string): void {
    this.#texts.delete(url);
  }

  #begin(url: string, canvas: Canvas): ReadonlySignal<PageText> {
    const text = signal<PageText>({ kind: "reading" });
    void this.#read(url, canvas).then((read) => text.value = read);
    return text;
  }

  async #read(url: string, canvas: Canvas): Promise<PageText> {
    const fetched = await fetchText(url, {
      fetch: this.#fetch,
      maxBytes: MAX_ALTO_CHARACTERS,
      signal: new AbortController().signal,
    });
    if (!fetched.ok) return { kind: "problem", problem: fetched.problem, url };
    const steps = readAltoInSteps(fetched.text);
    let since = performance.now();
    for (let step = steps.next();; step = steps.next()) {
      if (step.done) {
        const { value } = step;
        if (!value.ok) return { kind: "problem", problem: value.problem, url };
        return { kind: "text", page: value.page, lines: textLines(value.page, canvas), url };
      }
      if (performance.now() - since < SLICE_MS) continue;
      await new Promise((resolve) => setTimeout(resolve, 0));
      since = performance.now();
    }
  }
}
