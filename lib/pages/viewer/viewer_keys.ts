import type { Shortcut } from "@/lib/pages/shortcuts.ts";

/** The shortcuts of the viewer, in the order in which they are listed. */
export const VIEWER_SHORTCUTS = [
  { keys: ["ArrowLeft"], shown: "←", command: "previous" },
  { keys: ["ArrowRight"], shown: "→", command: "next" },
  { keys: ["Home"], shown: "Home", command: "first" },
  { keys: ["End"], shown: "End", command: "last" },
  { keys: ["Shift+ArrowLeft"], shown: "Shift ←", command: "panLeft" },
  { keys: ["Shift+ArrowRight"], shown: "Shift →", command: "panRight" },
  { keys: ["Shift+ArrowUp"], shown: "Shift ↑", command: "panUp" },
  { keys: ["Shift+ArrowDown"], shown: "Shift ↓", command: "panDown" },
  { keys: ["+", "="], shown: "+", command: "zoomIn", isCharacter: true },
  { keys: ["-", "_"], shown: "−", command: "zoomOut", isCharacter: true },
  { keys: ["0"], shown: "0", command: "wholePage", isCharacter: true },
  { keys: ["r"], shown: "R", command: "rotate", isCharacter: true },
  { keys: ["f"], shown: "F", command: "fullScreen", isCharacter: true },
  { keys: ["m"], shown: "M", command: "thumbnails", isCharacter: true },
  { keys: ["t"], shown: "T", command: "text", isCharacter: true },
  { keys: ["i"], shown: "I", command: "about", isCharacter: true },
  { keys: ["/"], shown: "/", command: "search", isCharacter: true },
  { keys: ["?"], shown: "?", command: "help", isCharacter: true },
] as const satisfies readonly Shortcut<string>[];

export type ViewerCommand = typeof VIEWER_SHORTCUTS[number]["command"];
