import type { Shortcut } from "./shortcuts.ts";

/** What a key does in the manifest viewer. */
export type ViewerCommand =
  | "previous"
  | "next"
  | "first"
  | "last"
  | "zoomIn"
  | "zoomOut"
  | "wholePage"
  | "rotate"
  | "fullScreen"
  | "thumbnails"
  | "text"
  | "about"
  | "search"
  | "help"
  | "panLeft"
  | "panRight"
  | "panUp"
  | "panDown";

/** The shortcuts of the viewer, in the order in which they are listed. */
export const VIEWER_SHORTCUTS: readonly Shortcut<ViewerCommand>[] = [
  { keys: ["ArrowLeft"], shown: "←", says: "The page to the left", command: "previous" },
  { keys: ["ArrowRight"], shown: "→", says: "The page to the right", command: "next" },
  { keys: ["Home"], shown: "Home", says: "First page", command: "first" },
  { keys: ["End"], shown: "End", says: "Last page", command: "last" },
  { keys: ["Shift+ArrowLeft"], shown: "Shift ←", says: "Move the image to the left", command: "panLeft" },
  { keys: ["Shift+ArrowRight"], shown: "Shift →", says: "Move the image to the right", command: "panRight" },
  { keys: ["Shift+ArrowUp"], shown: "Shift ↑", says: "Move the image up", command: "panUp" },
  { keys: ["Shift+ArrowDown"], shown: "Shift ↓", says: "Move the image down", command: "panDown" },
  { keys: ["+", "="], shown: "+", says: "Zoom in", command: "zoomIn", isCharacter: true },
  { keys: ["-", "_"], shown: "−", says: "Zoom out", command: "zoomOut", isCharacter: true },
  { keys: ["0"], shown: "0", says: "Whole page", command: "wholePage", isCharacter: true },
  { keys: ["r"], shown: "R", says: "Rotate by a quarter", command: "rotate", isCharacter: true },
  { keys: ["f"], shown: "F", says: "Full screen", command: "fullScreen", isCharacter: true },
  { keys: ["m"], shown: "M", says: "Thumbnails", command: "thumbnails", isCharacter: true },
  { keys: ["t"], shown: "T", says: "Text", command: "text", isCharacter: true },
  { keys: ["i"], shown: "I", says: "About this volume", command: "about", isCharacter: true },
  { keys: ["/"], shown: "/", says: "Search in this volume", command: "search", isCharacter: true },
  { keys: ["?"], shown: "?", says: "These shortcuts", command: "help", isCharacter: true },
];
