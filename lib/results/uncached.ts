/** Of result files and all errors around them: cached by the browser only, and revalidated each time. */
export const UNCACHED = { "Cache-Control": "private, no-cache" } as const;
