import { signal } from "@preact/signals";

import { remembered } from "@/lib/pages/browser/browser_memory_client.ts";

/** Where the viewer has room for the page alone: its panels are sheets from below. */
export const PHONE = "(max-width: 640px)";

export type PanelName = "thumbnails" | "text";

/**
 * The panels beside the page. They are open at first, and closed ones stay closed. On a phone they are sheets: none is
 * open at first, one at a time is, and that is not remembered.
 */
export class ViewerPanels {
  readonly #choices = { thumbnails: remembered("thumbnails"), text: remembered("text") };
  readonly #sheet = signal<PanelName | null>(null);
  readonly #isPhone = signal(false);

  /** Reads the stored choices and follows the width of the window. @returns stops that */
  start(): () => void {
    for (const choice of Object.values(this.#choices)) choice.recall();
    const media = matchMedia(PHONE);
    const follow = () => this.#isPhone.value = media.matches;
    follow();
    media.addEventListener("change", follow);
    return () => media.removeEventListener("change", follow);
  }

  isOpen(panel: PanelName): boolean {
    return this.#isPhone.value ? this.#sheet.value === panel : this.#choices[panel].value;
  }

  toggle(panel: PanelName): void {
    if (this.#isPhone.value) this.#sheet.value = this.isOpen(panel) ? null : panel;
    else this.#choices[panel].toggle();
  }
}
