import { createHash } from "node:crypto";
import type { ConsoleSecurity } from "@/embedded/store/console_security.ts";
import { folded } from "@/embedded/store/names.ts";
import { invalid } from "./mapi_error.ts";

const MAX_LENGTH = 64;

/** The most common passwords that the other rules allow, in lower case. */
const COMMON = new Set([
  "123abc",
  "1q2w3e",
  "1q2w3e4r",
  "1q2w3e4r5t",
  "a123456",
  "aa123456",
  "abc123",
  "abcd1234",
  "admin123",
  "changeme1",
  "letmein1",
  "p@ssw0rd",
  "p@ssword",
  "passw0rd",
  "password!",
  "password1",
  "password12",
  "password123",
  "qwe123",
  "qwerty1",
  "qwerty123",
  "welcome1",
  "welcome123",
  "zaq12wsx",
]);

/** The user of a new password. */
interface PasswordOwner {
  readonly username: string;
  /** MD5s of the present password and those before it, the newest first. */
  readonly former: readonly string[];
  /** MD5s of passwords that no account of the store may get. */
  readonly publicPasswords: readonly string[];
}

/**
 * The MD5 of a new password, as the store stores it.
 *
 * @throws {MapiError} 400 where it breaks the store's rules or the tenant's
 */
export function newPasswordMd5(
  password: unknown,
  rules: ConsoleSecurity,
  { username, former, publicPasswords }: PasswordOwner,
  member = "password",
): string {
  if (typeof password !== "string") throw invalid(member, "is required");
  const { minimumPasswordLength } = rules;
  const characters = [...password].length;
  if (characters < minimumPasswordLength || characters > MAX_LENGTH) {
    throw invalid(member, `must have ${minimumPasswordLength} to ${MAX_LENGTH} characters`);
  }
  const kinds = [/\p{L}/u, /\p{Nd}/u, /[^\p{L}\p{Nd}]/u].filter((kind) => kind.test(password));
  if (kinds.length < 2) throw invalid(member, "must mix at least two of letters, digits and other characters");
  if (rules.passwordCombination) requireCharacterCounts(password, rules, member);
  if (!rules.passwordContainsUsername && folded(password).includes(folded(username))) {
    throw invalid(member, "must not hold the user name");
  }
  if (rules.blockCommonPassword && COMMON.has(password.toLowerCase())) {
    throw invalid(member, "is one of the most common ones");
  }
  const md5 = passwordMd5(password);
  if (publicPasswords.includes(md5)) throw invalid(member, "is the public one of the samples");
  if (rules.blockPasswordReUse && former.slice(0, rules.passwordReuseDepth).includes(md5)) {
    throw invalid(member, `must not be one of the last ${rules.passwordReuseDepth}`);
  }
  return md5;
}

/** Hexadecimal MD5 of a password in UTF-8: half of the management API's token, and the S3 secret key. */
export function passwordMd5(password: string): string {
  return createHash("md5").update(password).digest("hex");
}

function requireCharacterCounts(password: string, rules: ConsoleSecurity, member: string): void {
  const counts = [
    [/\p{Ll}/gu, rules.lowerCaseLetterCount, "lower-case letters"],
    [/\p{Lu}/gu, rules.upperCaseLetterCount, "upper-case letters"],
    [/\p{Nd}/gu, rules.numericCharacterCount, "digits"],
    [/[^\p{L}\p{Nd}]/gu, rules.specialCharacterCount, "other characters"],
  ] as const;
  for (const [kind, least, what] of counts) {
    if ((password.match(kind)?.length ?? 0) < least) throw invalid(member, `must have at least ${least} ${what}`);
  }
}
