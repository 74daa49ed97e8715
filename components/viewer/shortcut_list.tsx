import type { Ref } from "preact";

import { SHORTCUTS } from "@/lib/presentation/viewer_keys.ts";
import { ToolButton } from "./tool_button.tsx";

interface ShortcutListProps {
  readonly dialog: Ref<HTMLDialogElement>;
  /** Whether single characters are shortcuts. */
  readonly hasCharacters: boolean;
  readonly onCharacters: () => void;
  readonly onClose: () => void;
}

/** The dialog with the shortcuts. */
export function ShortcutList({ dialog, hasCharacters, onCharacters, onClose }: ShortcutListProps) {
  return (
    <dialog class="shortcuts" ref={dialog} aria-labelledby="shortcuts-title">
      <header>
        <h2 id="shortcuts-title">Keyboard shortcuts</h2>
        <ToolButton icon="close" name="Close" onClick={onClose} />
      </header>
      <dl>
        {SHORTCUTS.map(({ shown, says }) => (
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
        Single characters are shortcuts
      </label>
    </dialog>
  );
}
