/** Loads the dialogs before changes: most visits change nothing. @throws TypeError where they cannot be loaded */
export const loadDialogs = () => import("./wanted_dialog.tsx");
