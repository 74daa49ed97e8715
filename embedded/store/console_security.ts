import type { Documents } from "./documents.ts";

/** The rules of passwords and logins of a tenant (management API, consoleSecurity). */
export interface ConsoleSecurity {
  /** Characters. */
  minimumPasswordLength: number;
  /** Whether the four counts below are demanded. */
  passwordCombination: boolean;
  lowerCaseLetterCount: number;
  upperCaseLetterCount: number;
  numericCharacterCount: number;
  specialCharacterCount: number;
  /** Whether a password may hold the user name. */
  passwordContainsUsername: boolean;
  blockCommonPassword: boolean;
  /** Whether the newest `passwordReuseDepth` passwords, the present one included, are refused. */
  blockPasswordReUse: boolean;
  passwordReuseDepth: number;
  /** Wrong passwords until an account is locked; 0: never. */
  disableAfterAttempts: number;
  /** Whether a locked account opens again by itself … */
  automaticUserAccountUnlockSetting: boolean;
  /** … after so many minutes. The wire spells it without the second n. */
  automaticUserAccoutUnlockDuration: number;
}

/**
 * The rules of a tenant that set none, and of the system level. No account is locked unless an administrator sets a
 * limit: otherwise anyone could lock out all users, administrators included, by sending wrong passwords.
 */
export const CONSOLE_SECURITY_DEFAULTS: ConsoleSecurity = {
  minimumPasswordLength: 6,
  passwordCombination: false,
  lowerCaseLetterCount: 1,
  upperCaseLetterCount: 1,
  numericCharacterCount: 1,
  specialCharacterCount: 1,
  passwordContainsUsername: true,
  blockCommonPassword: false,
  blockPasswordReUse: false,
  passwordReuseDepth: 5,
  disableAfterAttempts: 0,
  automaticUserAccountUnlockSetting: true,
  automaticUserAccoutUnlockDuration: 5,
};

/** The rules that hold in a tenant. */
export function consoleSecurity(documents: Documents, tenant: number): ConsoleSecurity {
  return { ...CONSOLE_SECURITY_DEFAULTS, ...documents.document({ tenant, bucket: 0, kind: "consoleSecurity" }) };
}
