import { isIP } from "node:net";
import { EVERY_ADDRESS } from "@/lib/embedded/store/address_rules.ts";
import { invalid } from "@/lib/embedded/store/mapi/mapi_error.ts";
import {
  boolean,
  integer,
  type Member,
  type Members,
  oneOf,
  oneOfAnyCase,
  quota,
  record,
  text,
} from "@/lib/embedded/store/mapi/members.ts";
import { MASK_FLAGS, MASK_NAMES } from "@/lib/embedded/store/permission_masks.ts";
import { VERSIONING_MEMBERS } from "@/lib/embedded/store/mapi/versioning_settings.ts";

/** Most names of one list. */
const MAX_NAMES = 10_000;

/** Most address rules of one list. */
const MAX_ADDRESSES = 1000;

/** A list of the store's, with its wrapping or without, given back with it: `{"recipient": [...]}`. */
export function wrappedRecords(
  member: string,
  members: Members,
  { most, required, defaults }: {
    readonly most: number;
    readonly required: readonly string[];
    /** What an entry has where it does not say. */
    readonly defaults: Readonly<Record<string, unknown>>;
  },
): Member {
  return (value, name) => {
    const list = unwrapped(value, member);
    if (!Array.isArray(list) || list.length > most) throw invalid(name, `must be a list of at most ${most} entries`);
    return {
      [member]: list.map((entry) => {
        const read = record(members)(entry, name) as Record<string, unknown>;
        for (const one of required) if (read[one] === undefined) throw invalid(`${name}.${one}`, "is required");
        return { ...defaults, ...read };
      }),
    };
  };
}

/** Words of a list with commas, such as `GENERAL,SECURITY`. */
export function words(...known: string[]): Member {
  return (value, name) => {
    if (typeof value !== "string" || !value.split(",").every((word) => known.includes(word.trim()))) {
      throw invalid(name, `may hold only ${known.join(", ")}, with commas`);
    }
    return value;
  };
}

/** Address rules: addresses, `ip/mask` or CIDR blocks, several in one entry with commas. */
export const ipSettings: Member = (value, name) =>
  record({ allowAddresses: addresses, denyAddresses: addresses, allowIfInBothLists: boolean })(value, name);

/** Whoever asks may come in. */
export const IP_SETTINGS = {
  allowAddresses: { ipAddress: [EVERY_ADDRESS] },
  denyAddresses: { ipAddress: [] },
  allowIfInBothLists: true,
};

const addresses: Member = (value, name) => {
  const list = unwrapped(value, "ipAddress");
  if (!Array.isArray(list) || list.length > MAX_ADDRESSES) {
    throw invalid(name, `must be a list of at most ${MAX_ADDRESSES} addresses`);
  }
  for (const entry of list) {
    if (
      typeof entry !== "string" || entry.length > 1000 || !entry.split(",").every((one) => isAddressRule(one.trim()))
    ) {
      throw invalid(name, "may hold only addresses, address/mask and CIDR blocks");
    }
  }
  return { ipAddress: list };
};

/** Members of a permissions document, in either of its forms. */
export const MASK_MEMBERS: Members = {
  permission: (value, name) => {
    const known: readonly string[] = MASK_NAMES;
    if (!Array.isArray(value) || !value.every((one) => known.includes(one))) {
      throw invalid(name, `may hold only ${known.join(", ")}`);
    }
    return [...new Set(value)];
  },
  ...Object.fromEntries(Object.keys(MASK_FLAGS).map((flag) => [flag, boolean])),
};

/** A list of names, with the store's wrapping or without; given back without. */
export const names: Member = (value, name) => {
  const list = unwrapped(value, "name");
  if (!Array.isArray(list) || list.length > MAX_NAMES || !list.every((one) => typeof one === "string")) {
    throw invalid(name, `must be a list of at most ${MAX_NAMES} names`);
  }
  return [...new Set(list)];
};

/** How long objects are kept: 0, -1, -2, an offset such as `A+7y`, a date, or `C+` and a class where that may be. */
export function retention(allowsClass: boolean): Member {
  return (value, name) => {
    const known =
      /^(?:0|-1|-2|[RANC]?(?:[+-]\d{1,6}[yMwdhms])+|\d{4}-\d{2}-\d{2}(?:T[\d:]{5,8}(?:Z|[+-]\d{2}:?\d{2})?)?)$/;
    const isClass = allowsClass && typeof value === "string" && /^C\+.{1,64}$/.test(value);
    if (typeof value !== "string" || !(known.test(value) || isClass)) {
      throw invalid(
        name,
        `must be 0, -1, -2, a date, an offset such as A+7y${allowsClass ? " or C+ and a class" : ""}`,
      );
    }
    return value;
  };
}

/** Members of namespaceDefaults: as a namespace's own. */
export const NAMESPACE_DEFAULT_MEMBERS: Members = {
  description: text(1024),
  hashScheme: oneOf("MD5", "SHA-1", "SHA-256", "SHA-384", "SHA-512", "RIPEMD-160"),
  enterpriseMode: boolean,
  hardQuota: quota,
  softQuota: integer(10, 95),
  servicePlan: text(64),
  optimizedFor: oneOf("CLOUD", "ALL", "DEFAULT"),
  directoryUsage: oneOfAnyCase("Balanced", "Unbalanced", "Default"),
  allowErasureCoding: boolean,
  replicationEnabled: boolean,
  searchEnabled: boolean,
  multipartUploadAutoAbortDays: integer(0, 180),
  retentionType: oneOf("HCP", "S3"),
  s3UnversionedOverwrite: boolean,
  versioningSettings: record(VERSIONING_MEMBERS),
};

/** Members of consoleSecurity. */
export const CONSOLE_SECURITY_MEMBERS: Members = {
  minimumPasswordLength: integer(2, 64),
  disableAfterAttempts: integer(0, 999),
  disableAfterInactiveDays: integer(0, 999),
  forcePasswordChangeDays: integer(0, 999_999),
  logoutOnInactive: integer(0, 999),
  lowerCaseLetterCount: integer(0, 64),
  upperCaseLetterCount: integer(0, 64),
  numericCharacterCount: integer(0, 64),
  specialCharacterCount: integer(0, 64),
  passwordReuseDepth: integer(0, 100),
  coolDownPeriodDuration: integer(0, 999),
  automaticUserAccoutUnlockDuration: integer(0, 999),
  automaticUserAccountUnlockSetting: boolean,
  blockCommonPassword: boolean,
  blockPasswordReUse: boolean,
  coolDownPeriodSettings: boolean,
  passwordCombination: boolean,
  passwordContainsUsername: boolean,
  loginMessage: text(1024),
  ipSettings,
};

function unwrapped(value: unknown, member: string): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.hasOwn(value, member) ? (value as Record<string, unknown>)[member] : undefined;
}

function isAddressRule(rule: string): boolean {
  const [address, mask, ...rest] = rule.split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  if (mask === undefined) return true;
  return /^\d{1,3}$/.test(mask) ? Number(mask) <= (version === 4 ? 32 : 128) : isIP(mask) === version;
}
