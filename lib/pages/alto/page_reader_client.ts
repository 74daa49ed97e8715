import { signal } from "@preact/signals";

import type { AltoPage } from "./alto_page.ts";
import { canvasOfPage, readPageAddress } from "@/lib/pages/volume_address.ts";
import { MAX_ALTO_CHARACTERS, readAltoInSteps } from "./read_alto.ts";
import { MAX_MANIFEST_BYTES } from "@/lib/pages/iiif/manifest.ts";
import { type PrintedXml, printXmlInSteps } from "./printed_xml.ts";
import { type NamedCampaign, viewerPath } from "@/lib/pages/page_paths.ts";
import type { PageProblem } from "./page_text_sentences.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";
import { fetchText, fetchXml } from "@/lib/pages/browser/fetch_text_client.ts";
import { runSteps } from "@/lib/pages/browser/steps_client.ts";

interface PageReaderDeps {
  readonly fetch: typeof fetch;
  /** The session has ended. */
  readonly onLogin: () => void;
}

/** Reads the text of one page, and looks for the page among those of its volume. */
export class PageReader {
  readonly page = signal<AltoPage | null>(null);
  readonly problem = signal<PageProblem | null>(null);
  /** The file laid out; null until {@linkcode print} has been called and is done. */
  readonly printed = signal<PrintedXml | null>(null);
  /** The page in the manifest viewer; null while it is not known. */
  readonly viewer = signal<string | null>(null);

  readonly #url: string;
  readonly #campaign: NamedCampaign | null;
  readonly #deps: PageReaderDeps;
  readonly #stopped = new AbortController();
  #xml: string | null = null;
  #isPrinting = false;

  /** @param campaign the one that the reader comes from */
  constructor(url: string, campaign: NamedCampaign | null, deps: PageReaderDeps) {
    this.#url = url;
    this.#campaign = campaign;
    this.#deps = deps;
  }

  stop(): void {
    this.#stopped.abort();
  }

  /** Lays out the file, once, when it has been read. */
  async print(): Promise<void> {
    if (this.#xml === null || this.#isPrinting) return;
    this.#isPrinting = true;
    this.printed.value = await runSteps(printXmlInSteps(this.#xml), this.#stopped.signal);
  }

  /** Reads the page; nothing more is read once it is stopped. */
  async start(): Promise<void> {
    const { signal } = this.#stopped;
    const { fetch } = this.#deps;
    const fetched = await fetchXml(this.#url, { fetch, signal, maxBytes: MAX_ALTO_CHARACTERS });
    if (signal.aborted) return;
    if (!fetched.ok) {
      if (fetched.problem === 401) this.#deps.onLogin();
      else this.problem.value = fetched.problem;
      return;
    }
    this.#xml = fetched.text;
    const reading = await runSteps(readAltoInSteps(fetched.text), signal);
    if (reading === null) return;
    if (reading.ok) {
      this.page.value = reading.page;
      await this.#findInVolume();
    } else {
      this.problem.value = reading.problem;
      await this.print();
    }
  }

  /** A volume without a manifest, or a page that the manifest does not name, has no link. */
  async #findInVolume(): Promise<void> {
    const { page, volume } = readPageAddress(this.#url);
    if (volume === null) return;
    const { signal } = this.#stopped;
    const fetched = await fetchText(volume.iiifUrl, { fetch: this.#deps.fetch, signal, maxBytes: MAX_MANIFEST_BYTES });
    const canvas = fetched.ok ? canvasOfPage(parsedJson(fetched.text), page) : null;
    if (canvas !== null) this.viewer.value = viewerPath(volume.iiifUrl, canvas, this.#campaign);
  }
}
