/**
 * The oldest version of Deno that Stackroom runs on; README.md names it. From 2.8.3 to 2.9.5 a response ends the body
 * of its request and the connection (denoland/deno#36624, #36657), and before 2.9.2 HEAD has a length of 0 (#35728).
 */
export const OLDEST_DENO = "2.9.6";

/** The message for a version of Deno below {@linkcode OLDEST_DENO}; null for the others. */
export function unsupportedDeno(version: string): string | null {
  const numbers = (text: string) => text.split(/[.+-]/, 3).map(Number);
  const [have, need] = [numbers(version), numbers(OLDEST_DENO)];
  const at = need.findIndex((number, index) => number !== have[index]);
  if (at < 0 || have[at] > need[at]) return null;
  return `Stackroom needs Deno ${OLDEST_DENO} or later, and this is Deno ${version}: run "deno upgrade", or use "npx -y deno@latest" instead of "deno"`;
}
