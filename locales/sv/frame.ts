import type * as en from "@/locales/en/frame.ts";

export const THEMES: typeof en.THEMES = {
  system: "systemets",
  light: "ljust",
  dark: "mörkt",
  is: (theme) => `Tema: ${theme}`,
  change: (theme, next) => `Tema: ${theme}. Byt till ${next}`,
};

export const SCRIPT_FAILURE: typeof en.SCRIPT_FAILURE = {
  sentence: "Ett skript på den här sidan kunde inte läsas in. Kontrollera anslutningen och försök igen.",
  tryAgain: "Försök igen",
};
