/** What result files and every error around them carry: kept by the browser alone, and asked about again each time. */
export const UNCACHED = { "Cache-Control": "private, no-cache" } as const;
