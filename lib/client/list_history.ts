import { type ListAddress, listPath, readListAddress } from "@/lib/presentation/list_address.ts";

/** ms without a key press after which a text stands in the address: browsers limit how often it may change. */
const TYPING_MS = 300;

/** The filter and the order of the list in the address of the page, so that back, reload and a shared link show the same. */
export class ListHistory {
  readonly #onBack: (address: ListAddress) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The words that are being typed are one entry of the history. */
  #isTyping = false;

  /** @param onBack called with the address when the reader goes back or forward */
  constructor(onBack: (address: ListAddress) => void) {
    this.#onBack = onBack;
  }

  /** Follows the way back and forward. @returns a function that ends that */
  start(): () => void {
    const back = () => {
      clearTimeout(this.#timer);
      this.#isTyping = false;
      this.#onBack(readListAddress(new URLSearchParams(location.search)));
    };
    addEventListener("popstate", back);
    return () => {
      clearTimeout(this.#timer);
      removeEventListener("popstate", back);
    };
  }

  /** Writes what is shown. A text is written when the typing stops, anything else at once. */
  write(address: ListAddress, isText: boolean): void {
    clearTimeout(this.#timer);
    if (isText) this.#timer = setTimeout(() => this.#write(address, true), TYPING_MS);
    else this.#write(address, false);
  }

  /** Writes what is shown without an entry of its own, since the way back does not lead to less. */
  replace(address: ListAddress): void {
    clearTimeout(this.#timer);
    history.replaceState(null, "", listPath(address));
  }

  #write(address: ListAddress, isText: boolean): void {
    const path = listPath(address);
    if (path === location.pathname + location.search) return;
    if (isText && this.#isTyping) history.replaceState(null, "", path);
    else history.pushState(null, "", path);
    this.#isTyping = isText;
  }
}
