/** Whether a key press goes into a field, where a character is text and no shortcut. */
export function isTyping({ target }: KeyboardEvent): boolean {
  return target instanceof HTMLElement &&
    target.matches("input:not([type=checkbox], [type=radio]), select, textarea, [contenteditable]");
}
