import { createHash } from "node:crypto";

import { THEME_KEY } from "@/lib/presentation/theme_key.ts";

/**
 * The one inline script of every page. It runs before anything is painted: the reader's stored theme, and a mark that
 * scripts run, by which styles show or hide what needs them.
 */
export const THEME_SCRIPT = `{const h=document.documentElement;h.dataset.scripts="";` +
  `try{const t=localStorage.getItem("${THEME_KEY}");if(t==="light"||t==="dark")h.dataset.theme=t}catch{}}`;

/** The policy source that allows exactly this script (CSP Level 3, hash sources). */
export const THEME_SCRIPT_SOURCE = `'sha256-${createHash("sha256").update(THEME_SCRIPT).digest("base64")}'`;
