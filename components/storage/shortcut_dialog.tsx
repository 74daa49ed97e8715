import { useLayoutEffect, useRef } from "preact/hooks";

import { ShortcutList } from "@/components/shortcut_list.tsx";
import type { RememberedChoice } from "@/lib/pages/browser/browser_memory_client.ts";
import type { Shortcut } from "@/lib/pages/shortcuts.ts";
import { FOLDER_KEY_WORDS } from "@/lib/pages/storage/storage_sentences.ts";

interface ShortcutDialogProps {
  readonly shortcuts: readonly Shortcut<keyof typeof FOLDER_KEY_WORDS>[];
  readonly characterKeys: RememberedChoice;
  onClose(): void;
}

/** The list of a folder's shortcuts, open for as long as it is on the page. */
export function ShortcutDialog({ shortcuts, characterKeys, onClose }: ShortcutDialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const { current } = dialog;
    current?.showModal();
    current?.addEventListener("close", onClose);
    // The focus goes back to what had it.
    return () => current?.close();
  }, []);
  return <ShortcutList dialog={dialog} shortcuts={shortcuts} words={FOLDER_KEY_WORDS} characterKeys={characterKeys} />;
}
