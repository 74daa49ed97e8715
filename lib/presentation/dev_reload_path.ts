/** Where the development server tells its pages that it has started again. */
export const DEV_RELOAD_PATH = "/_dev/reload";
