import { type ReadonlySignal, signal } from "@preact/signals";

import type { AltoPage } from "@/lib/presentation/alto/alto_page.ts";
import { MAX_ALTO_CHARACTERS, readAltoInSteps } from "@/lib/presentation/alto/read_alto.ts";
import type { Canvas } from "@/lib/presentation/iiif/manifest.ts";
import type { TextProblem } from "@/lib/presentation/viewer_sentences.ts";
import { type TextLine, textLines } from "@/lib/presentation/viewer_text.ts";
import { fetchText } from "@/lib/client/fetch_text.ts";
import { runSteps } from "@/lib/client/run_steps.ts";

/** Texts that are cached. */
const MAX_CACHED = 20;

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
    const { signal } = new AbortController();
    const fetched = await fetchText(url, { fetch: this.#fetch, maxBytes: MAX_ALTO_CHARACTERS, signal });
    if (!fetched.ok) return { kind: "problem", problem: fetched.problem, url };
    const read = await runSteps(readAltoInSteps(fetched.text), signal);
    if (!read.ok) return { kind: "problem", problem: read.problem, url };
    return { kind: "text", page: read.page, lines: textLines(read.page, canvas), url };
  }
}
