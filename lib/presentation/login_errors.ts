/**
 * The sentence for a failed login, by the code in the address of the login page; null without a code. An unknown code
 * says only that it failed, so that the address cannot put words into the page.
 */
export function loginErrorSentence(code: string | null): string | null {
  if (code === null) return null;
  return SENTENCES.get(code) ?? "The login did not work. Try again in a moment.";
}

const REFUSED = "The name or the password is wrong.";
const CROSS_ORIGIN =
  "This page was not opened under the site's own address, so the login was refused. Open the site by its usual address.";
const MALFORMED = "The name or the password is missing or too long.";
const TOO_MANY = "Too many attempts. Wait up to five minutes, then try again.";
const UNREACHABLE = "The results store does not answer, so the login cannot be checked. Try again in a moment.";

const SENTENCES: ReadonlyMap<string, string> = new Map([
  ["401", REFUSED],
  ["403", CROSS_ORIGIN],
  ["413", MALFORMED],
  ["422", MALFORMED],
  ["429", TOO_MANY],
  ["502", UNREACHABLE],
  ["503", "The login is not available at the moment. Try again later."],
  ["504", UNREACHABLE],
]);
