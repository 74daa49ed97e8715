import type { Clock } from "@/lib/client/poller.ts";

interface AddressBarDeps {
  /** Only a browser has one. */
  readonly history: () => Pick<History, "pushState" | "replaceState" | "state">;
  readonly clock: Pick<Clock, "after">;
}

/** Safari refuses more than 100 changes of the address in 30 seconds; by the next try some of them are past. */
const RETRY_MS = 5000;

/** Writes the fragment of the page's address, also where the browser limits how often that may be done. */
export class AddressBar {
  readonly #deps: AddressBarDeps;
  /** Prevents the next try. */
  #cancelRetry: () => void = () => {};

  constructor(deps: AddressBarDeps) {
    this.#deps = deps;
  }

  /**
   * Writes a fragment. Where the browser refuses, the last one that was written replaces the address later.
   *
   * @param hash with its `#`
   * @param entry whether it is an entry of its own in the history
   */
  write(hash: string, entry: "new" | "same"): void {
    this.stop();
    const history = this.#deps.history();
    try {
      if (entry === "new") history.pushState(null, "", hash);
      else history.replaceState(history.state, "", hash);
    } catch {
      this.#cancelRetry = this.#deps.clock.after(RETRY_MS, () => this.write(hash, "same"));
    }
  }

  /** Leaves out a fragment that waits to be written. */
  stop(): void {
    this.#cancelRetry();
    this.#cancelRetry = () => {};
  }
}
