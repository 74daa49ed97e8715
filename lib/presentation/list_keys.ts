import type { Shortcut } from "./shortcuts.ts";

/** What a key does in the list of campaigns. */
export type ListCommand = "filter" | "next" | "previous" | "fold" | "help";

/** The shortcuts of the list of campaigns, in the order in which they are listed. */
export const LIST_SHORTCUTS: readonly Shortcut<ListCommand>[] = [
  { keys: ["/"], shown: "/", command: "filter", isCharacter: true },
  { keys: ["j"], shown: "J", command: "next", isCharacter: true },
  { keys: ["k"], shown: "K", command: "previous", isCharacter: true },
  { keys: ["o"], shown: "O", command: "fold", isCharacter: true },
  { keys: ["?"], shown: "?", command: "help", isCharacter: true },
];
