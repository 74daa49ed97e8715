import { type Signal, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { remembered } from "@/lib/client/browser_memory.ts";
import { isTyping } from "@/lib/client/focus.ts";
import { loadCode } from "@/lib/client/storage/load_code.tsx";
import { commandOf } from "@/lib/presentation/shortcuts.ts";
import { FOLDER_SHORTCUTS } from "@/lib/presentation/storage/folder_keys.ts";

interface FolderShortcutsProps {
  /** Whether the list of shortcuts is open. */
  readonly isOpen: Signal<boolean>;
  /** Goes to the search. */
  onFind(): void;
}

const loadList = () => loadCode(() => import("./shortcut_dialog.tsx"));

/** The shortcuts that work anywhere on a folder's page, and the list of all, which is loaded when it is first opened. */
export function FolderShortcuts({ isOpen, onFind }: FolderShortcutsProps) {
  const characterKeys = useMemo(() => remembered("keys"), []);
  const loaded = useSignal<Awaited<ReturnType<typeof loadList>> | null>(null);
  useEffect(() => {
    characterKeys.recall();
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event) || document.querySelector("dialog[open]")) return;
      const command = commandOf(FOLDER_SHORTCUTS, event, characterKeys.value);
      if (command === null) return;
      event.preventDefault();
      if (command === "find") onFind();
      else isOpen.value = true;
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  useEffect(() => {
    if (!isOpen.value || loaded.peek()) return;
    loadList().then((list) => loaded.value = list, () => isOpen.value = false);
  }, [isOpen.value]);
  if (!isOpen.value || !loaded.value) return null;
  return <loaded.value.ShortcutDialog characterKeys={characterKeys} onClose={() => isOpen.value = false} />;
}
