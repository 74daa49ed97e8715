import { inLanguage } from "@/lib/pages/locale/language.ts";
import * as en from "@/locales/en/shortcuts.ts";
import * as sv from "@/locales/sv/shortcuts.ts";

/** A keyboard shortcut of a page. */
export interface Shortcut<Command> {
  readonly keys: readonly string[];
  /** How the list of shortcuts writes the key. */
  readonly shown: string;
  readonly command: Command;
  /** One character without a modifier, which the reader may switch off (WCAG 2.1.4). */
  readonly isCharacter?: boolean;
}

export const SHORTCUT_LABELS = inLanguage({ en: en.SHORTCUT_LABELS, sv: sv.SHORTCUT_LABELS });

type Key = Pick<KeyboardEvent, "key" | "shiftKey" | "ctrlKey" | "altKey" | "metaKey">;

/**
 * The command of a key press; null: none.
 *
 * @param characters whether single characters are shortcuts
 */
export function commandOf<Command>(
  shortcuts: readonly Shortcut<Command>[],
  event: Key,
  characters: boolean,
): Command | null {
  if (event.ctrlKey || event.altKey || event.metaKey) return null;
  const name = event.key.length === 1 ? event.key.toLowerCase() : `${event.shiftKey ? "Shift+" : ""}${event.key}`;
  const found = shortcuts.find(({ keys }) => keys.includes(name));
  return found && (characters || !found.isCharacter) ? found.command : null;
}
