/** The themes of the theme switch. */
export const THEMES = {
  system: "system",
  light: "light",
  dark: "dark",
  is: (theme: string) => `Theme: ${theme}`,
  change: (theme: string, next: string) => `Theme: ${theme}. Change to ${next}`,
};
