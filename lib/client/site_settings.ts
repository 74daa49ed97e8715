declare global {
  // What /config.js sets.
  var API_BASE: string | undefined;
  var RESULTS_BASE: string | undefined;
}

/** Base of the read API. */
export function apiBase(): string {
  return globalThis.API_BASE ?? "/api/v1";
}
