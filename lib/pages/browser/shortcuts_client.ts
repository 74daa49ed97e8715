import { useEffect, useMemo } from "preact/hooks";
import { commandOf, type Shortcut } from "@/lib/pages/shortcuts.ts";
import { remembered, type RememberedChoice } from "./browser_memory_client.ts";
import { isTyping } from "./focus_client.ts";

/**
 * Runs commands by the shortcuts of a page, except in dialogs and fields.
 *
 * @param ignores whether a key press is left to the focused element
 * @returns the reader's choice whether single characters are shortcuts
 */
export function useShortcuts<Command extends string>(
  shortcuts: readonly Shortcut<Command>[],
  run: (command: Command) => void,
  ignores: (event: KeyboardEvent) => boolean = () => false,
): RememberedChoice {
  const characterKeys = useMemo(() => remembered("keys"), []);
  useEffect(() => {
    characterKeys.recall();
    const onKey = (event: KeyboardEvent) => {
      if (isTyping(event) || document.querySelector("dialog[open]")) return;
      const command = commandOf(shortcuts, event, characterKeys.value);
      if (command === null || ignores(event)) return;
      event.preventDefault();
      run(command);
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
  return characterKeys;
}
