import { THEME_KEY } from "@/lib/presentation/browser_memory.ts";

/** The choices of the theme switch, in the order in which it goes through them. */
const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

/** The stored choice; `system` where there is none, or none can be stored. */
export function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem(THEME_KEY);
    return THEMES.find((theme) => theme === stored) ?? "system";
  } catch {
    return "system";
  }
}

/** Shows a theme and keeps the choice where the browser allows it. */
export function chooseTheme(theme: Theme): void {
  const { dataset } = document.documentElement;
  if (theme === "system") delete dataset.theme;
  else dataset.theme = theme;
  try {
    if (theme === "system") localStorage.removeItem(THEME_KEY);
    else localStorage.setItem(THEME_KEY, theme);
  } catch {
    // A browser that keeps nothing shows the choice for this page.
  }
}

export function themeAfter(theme: Theme): Theme {
  return THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length];
}
