/** The themes of the theme switch. */
export const THEMES = {
  system: "system",
  light: "light",
  dark: "dark",
  is: (theme: string) => `Theme: ${theme}`,
  change: (theme: string, next: string) => `Theme: ${theme}. Change to ${next}`,
};

/** Shown where a script of the page cannot be loaded. A reload requests the page again, also after an update of the site. */
export const SCRIPT_FAILURE = {
  sentence: "A script of this page could not be loaded. Check the connection, then try again.",
  tryAgain: "Try again",
};
