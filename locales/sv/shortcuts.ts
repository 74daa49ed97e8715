import type * as en from "@/locales/en/shortcuts.ts";

export const SHORTCUT_LABELS: typeof en.SHORTCUT_LABELS = {
  shortcuts: "Kortkommandon",
  close: "Stäng",
  singleCharacters: "Enstaka tecken är kortkommandon",
};
