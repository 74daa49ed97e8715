import { signal } from "@preact/signals";

import type { RunReaderDeps } from "./log_reader_client.ts";
import { isComplete, manifestProblem, readRunManifest, RUN_WORDS, type RunManifest } from "./run_manifest.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";
import { fetchText } from "@/lib/pages/browser/fetch_text_client.ts";
import { Poller } from "@/lib/pages/browser/poller_client.ts";

/** Seconds between two reads while the run goes on: it writes the manifest last. */
const LIVE_SECONDS = 15;
/** A volume of ten thousand pages has about 5 MB. */
const MAX_BYTES = 32 * 1024 * 1024;

export type RunManifestState =
  | { readonly kind: "reading" }
  /** It may come yet, or never where the run has failed. */
  | { readonly kind: "absent" }
  | { readonly kind: "problem"; readonly sentence: string }
  | { readonly kind: "read"; readonly manifest: RunManifest };

/** Reads the manifest of a run, once or until it covers every page. */
export class RunManifestReader {
  readonly state = signal<RunManifestState>({ kind: "reading" });

  readonly #url: string;
  readonly #deps: RunReaderDeps;
  readonly #poller: Poller;

  constructor(url: string, deps: RunReaderDeps) {
    this.#url = url;
    this.#deps = deps;
    this.#poller = new Poller((signal) => this.#read(signal), deps.clock);
  }

  /**
   * Reads the manifest at once.
   *
   * @param live whether the run may still write
   */
  start(live: boolean): void {
    if (live) this.#poller.repeat(LIVE_SECONDS);
    this.#poller.readNow();
  }

  pause(paused: boolean): void {
    this.#poller.pause(paused);
  }

  /** The log says that the run has ended: the manifest is read a last time, and then no longer. */
  settle(): void {
    this.#poller.repeat(null);
    if (this.state.value.kind !== "read") this.#poller.readNow();
  }

  stop(): void {
    this.#poller.stop();
  }

  async #read(signal: AbortSignal): Promise<boolean> {
    const state = await this.#stateOfRead(signal);
    if (signal.aborted) return false;
    // A failed poll does not replace a manifest that was read before.
    if (state.kind === "read" || this.state.value.kind !== "read") this.state.value = state;
    if (state.kind === "read" && isComplete(state.manifest)) {
      this.#poller.repeat(null);
      this.#deps.onEnd();
    }
    return state.kind === "read" || state.kind === "absent";
  }

  async #stateOfRead(signal: AbortSignal): Promise<RunManifestState> {
    // The file is overwritten by each run.
    const { fetch } = this.#deps;
    const fetched = await fetchText(this.#url, { fetch, maxBytes: MAX_BYTES, cache: "no-cache", signal });
    if (fetched.ok) {
      const manifest = readRunManifest(parsedJson(fetched.text));
      return manifest ? { kind: "read", manifest } : { kind: "problem", sentence: RUN_WORDS.unreadable };
    }
    const { problem } = fetched;
    if (problem === 401) this.#deps.onLogin();
    if (problem === 401 || problem === 403) this.#poller.repeat(null);
    return problem === 404 ? { kind: "absent" } : { kind: "problem", sentence: manifestProblem(problem) };
  }
}
