/** The labels of the list of shortcuts. */
export const SHORTCUT_LABELS = {
  shortcuts: "Keyboard shortcuts",
  close: "Close",
  singleCharacters: "Single characters are shortcuts",
};
