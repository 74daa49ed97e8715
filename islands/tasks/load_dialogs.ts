import { loadCode } from "@/lib/client/storage/load_code.ts";

/** Loads the dialogs before changes: most visits change nothing. @throws OutdatedPage, TypeError where they cannot be loaded */
export const loadDialogs = () => loadCode(() => import("./wanted_dialog.tsx"));
