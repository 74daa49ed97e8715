import type { RefObject } from "preact";

import type { RememberedChoice } from "@/lib/pages/browser/browser_memory_client.ts";
import { type Shortcut, SHORTCUT_LABELS } from "@/lib/pages/shortcuts.ts";
import { ToolButton } from "./icon.tsx";

interface ShortcutListProps<Command extends string> {
  readonly dialog: RefObject<HTMLDialogElement | null>;
  readonly shortcuts: readonly Shortcut<Command>[];
  /** Description of each command. */
  readonly words: Readonly<Record<Command, string>>;
  /** Whether single characters are shortcuts. */
  readonly characterKeys: RememberedChoice;
}

/** The dialog with a page's shortcuts. */
export function ShortcutList<Command extends string>(props: ShortcutListProps<Command>) {
  const { dialog, shortcuts, words, characterKeys } = props;
  return (
    <dialog class="shortcuts" ref={dialog} aria-labelledby="shortcuts-title">
      <header>
        <h2 id="shortcuts-title">{SHORTCUT_LABELS.shortcuts}</h2>
        <ToolButton icon="close" name={SHORTCUT_LABELS.close} onClick={() => dialog.current?.close()} />
      </header>
      <dl>
        {shortcuts.map(({ shown, command }) => (
          <div key={shown}>
            <dt>
              <kbd>{shown}</kbd>
            </dt>
            <dd>{words[command]}</dd>
          </div>
        ))}
      </dl>
      <label class="switch">
        <input type="checkbox" checked={characterKeys.value} onChange={() => characterKeys.toggle()} />
        {SHORTCUT_LABELS.singleCharacters}
      </label>
    </dialog>
  );
}
