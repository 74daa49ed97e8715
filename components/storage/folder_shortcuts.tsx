import type { Signal } from "@preact/signals";
import { useShortcuts } from "@/lib/pages/browser/shortcuts_client.ts";
import { lazyComponent } from "@/lib/pages/browser/load_code_client.tsx";
import type { Shortcut } from "@/lib/pages/shortcuts.ts";
import type { FOLDER_KEY_WORDS } from "@/lib/pages/storage/storage_sentences.ts";

/** The shortcuts of a folder, in the order in which they are listed. Those without keys belong to the rows. */
const SHORTCUTS: readonly Shortcut<keyof typeof FOLDER_KEY_WORDS>[] = [
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

interface FolderShortcutsProps {
  /** Whether the list of shortcuts is open. */
  readonly isOpen: Signal<boolean>;
  /** Goes to the search. */
  onFind(): void;
}

/** Loaded when it is first opened. */
const ShortcutDialog = lazyComponent(async () => (await import("./shortcut_dialog.tsx")).ShortcutDialog);

/** The shortcuts that work anywhere on a folder's page, and the list of all. */
export function FolderShortcuts({ isOpen, onFind }: FolderShortcutsProps) {
  const characterKeys = useShortcuts(SHORTCUTS, (command) => {
    if (command === "find") onFind();
    else isOpen.value = true;
  });
  if (!isOpen.value) return null;
  return <ShortcutDialog shortcuts={SHORTCUTS} characterKeys={characterKeys} onClose={() => isOpen.value = false} />;
}
