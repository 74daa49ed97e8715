import type * as en from "@/locales/en/theme.ts";

export const THEMES: typeof en.THEMES = {
  system: "systemets",
  light: "ljust",
  dark: "mörkt",
  is: (theme) => `Tema: ${theme}`,
  change: (theme, next) => `Tema: ${theme}. Byt till ${next}`,
};
