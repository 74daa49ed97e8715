import { inLanguage } from "@/lib/presentation/locale/language.ts";
import * as en from "@/locales/en/storage.ts";
import * as sv from "@/locales/sv/storage.ts";
import type { Shortcut } from "@/lib/presentation/shortcuts.ts";

/** What a key does in a folder. */
type FolderCommand = "find" | "row" | "page" | "end" | "select" | "range" | "all" | "none" | "help";

/** The shortcuts of a folder, in the order in which they are listed. Those without keys belong to the rows. */
export const FOLDER_SHORTCUTS: readonly Shortcut<FolderCommand>[] = [
  { keys: ["/"], shown: "/", command: "find", isCharacter: true },
  { keys: [], shown: "↑ ↓", command: "row" },
  { keys: [], shown: "Page ↑ ↓", command: "page" },
  { keys: [], shown: "Home End", command: "end" },
  { keys: [], shown: "␣", command: "select" },
  { keys: [], shown: "Shift", command: "range" },
  { keys: [], shown: "Ctrl A", command: "all" },
  { keys: [], shown: "Esc", command: "none" },
  { keys: ["?"], shown: "?", command: "help", isCharacter: true },
];

/** What the keys of a folder do. */
export const FOLDER_KEY_WORDS: Readonly<Record<FolderCommand, string>> = inLanguage({
  en: en.FOLDER_KEY_WORDS,
  sv: sv.FOLDER_KEY_WORDS,
});
