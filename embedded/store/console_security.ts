import type { Documents } from "./documents.ts";

/**
 * The rules of passwords and logins (management API, consoleSecurity) of a tenant that set none, and of the system level.
 * No account is locked unless an administrator sets a limit: otherwise anyone could lock out all users, administrators
 * included, by sending wrong passwords.
 */
export const CONSOLE_SECURITY_DEFAULTS = {
  /** Characters. */
  minimumPasswordLength: 6,
  /** Whether the four counts below are required. */
  passwordCombination: false,
  lowerCaseLetterCount: 1,
  upperCaseLetterCount: 1,
  numericCharacterCount: 1,
  specialCharacterCount: 1,
  /** Whether a password may hold the user name. */
  passwordContainsUsername: true,
  blockCommonPassword: false,
  /** Whether the newest `passwordReuseDepth` passwords, the present one included, are rejected. */
  blockPasswordReUse: false,
  passwordReuseDepth: 5,
  /** Wrong passwords until an account is locked; 0: never. */
  disableAfterAttempts: 0,
  /** Whether a locked account opens again by itself … */
  automaticUserAccountUnlockSetting: true,
  /** … after so many minutes. The wire spells it without the second n. */
  automaticUserAccoutUnlockDuration: 5,
};

export type ConsoleSecurity = Readonly<typeof CONSOLE_SECURITY_DEFAULTS>;

/** The rules that hold in a tenant. */
export function consoleSecurity(documents: Documents, tenant: number): ConsoleSecurity {
  return { ...CONSOLE_SECURITY_DEFAULTS, ...documents.document({ tenant, bucket: 0, kind: "consoleSecurity" }) };
}
