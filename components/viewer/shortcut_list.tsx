import type { Ref } from "preact";

import { SHORTCUTS } from "@/lib/presentation/viewer_keys.ts";
import { ToolButton } from "./tool_button.tsx";
import { VIEWER_LABELS } from "@/lib/presentation/viewer_sentences.ts";

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
        <h2 id="shortcuts-title">{VIEWER_LABELS.shortcuts}</h2>
        <ToolButton icon="close" name={VIEWER_LABELS.close} onClick={onClose} />
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
        {VIEWER_LABELS.singleCharacters}
      </label>
    </dialog>
  );
}
