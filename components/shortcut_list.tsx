import type { Ref } from "preact";

import { type Shortcut, SHORTCUT_LABELS } from "@/lib/presentation/shortcuts.ts";
import { ToolButton } from "./tool_button.tsx";

interface ShortcutListProps {
  readonly dialog: Ref<HTMLDialogElement>;
  readonly shortcuts: readonly Shortcut<string>[];
  /** Whether single characters are shortcuts. */
  readonly hasCharacters: boolean;
  readonly onCharacters: () => void;
  readonly onClose: () => void;
}

/** The dialog with a page's shortcuts. */
export function ShortcutList({ dialog, shortcuts, hasCharacters, onCharacters, onClose }: ShortcutListProps) {
  return (
    <dialog class="shortcuts" ref={dialog} aria-labelledby="shortcuts-title">
      <header>
        <h2 id="shortcuts-title">{SHORTCUT_LABELS.shortcuts}</h2>
        <ToolButton icon="close" name={SHORTCUT_LABELS.close} onClick={onClose} />
      </header>
      <dl>
        {shortcuts.map(({ shown, says }) => (
          <div key={shown}>
            <dt>
              <kbd>{shown}</kbd>
            </dt>
            <dd>{says}</dd>
          </div>
        ))}
      </dl>
      <label class="switch">
        <input type="checkbox" checked={hasCharacters} onChange={onCharacters} />
        {SHORTCUT_LABELS.singleCharacters}
      </label>
    </dialog>
  );
}
