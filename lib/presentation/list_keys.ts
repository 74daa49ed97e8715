import type { Shortcut } from "./shortcuts.ts";

/** What a key does in the list of campaigns. */
export type ListCommand = "filter" | "next" | "previous" | "fold" | "help";

/** The shortcuts of the list of campaigns, in the order in which they are listed. */
export const LIST_SHORTCUTS: readonly Shortcut<ListCommand>[] = [
  { keys: ["/"], shown: "/", says: "Filter by name or pipeline", command: "filter", isCharacter: true },
  { keys: ["j"], shown: "J", says: "Next campaign", command: "next", isCharacter: true },
  { keys: ["k"], shown: "K", says: "Previous campaign", command: "previous", isCharacter: true },
  { keys: ["o"], shown: "O", says: "Open or fold the campaign", command: "fold", isCharacter: true },
  { keys: ["?"], shown: "?", says: "These shortcuts", command: "help", isCharacter: true },
];
