import { INTRODUCED_KEY } from "@/lib/presentation/browser_memory.ts";

/** Hides the introduction, here and from now on, and gives its focus to the page. */
export function closeIntroduction(): void {
  document.documentElement.dataset.introduced = "";
  document.querySelector<HTMLElement>("main")?.focus({ preventScroll: true });
  try {
    localStorage.setItem(INTRODUCED_KEY, "1");
  } catch {
    // It is back with the next page.
  }
}
