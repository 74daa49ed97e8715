/**
 * The store's rules for values beyond their types, in the terms of JSON Schema. The document shows these rules to clients.
 * The store itself checks them: a value that breaks one is its 400, and a store with fewer rules accepts more.
 */
export interface TextRule {
  /** Characters. */
  readonly minLength?: number;
  readonly maxLength?: number;
  /** Without `\d`, `\w` and the like, which not every reader of the document takes for ASCII. */
  readonly pattern?: string;
  readonly enum?: readonly string[];
}

export interface NumberRule {
  readonly minimum: number;
  readonly maximum: number;
}

/** No control characters but tabs and line ends. */
const PRINTABLE = "^[^\\u0000-\\u0008\\u000b\\u000c\\u000e-\\u001f]*$";

/** Free text of at most so many characters. */
export function printable(maxLength: number, minLength?: number): TextRule {
  return { ...(minLength === undefined ? {} : { minLength }), maxLength, pattern: PRINTABLE };
}

export const DESCRIPTION = printable(1024);
export const SERVICE_PLAN = printable(64);

/** At least 1 GB, without leading zeros. */
export const HARD_QUOTA_RULE: TextRule = {
  pattern: `^(?:${
    [
      "(?:102[4-9]|10[3-9][0-9]|1[1-9][0-9]{2}|[2-9][0-9]{3}|[1-9][0-9]{4,11})(?:\\.[0-9]{1,2})? MB",
      "[1-9][0-9]{0,11}(?:\\.[0-9]{1,2})? GB",
      "(?:[1-9][0-9]{0,11}(?:\\.[0-9]{1,2})?|0\\.(?:0[1-9]|[1-9][0-9]?)) TB",
    ].join("|")
  })$`,
};

/** Per cent; a tenant's may be 0 to 100. */
export const NAMESPACE_SOFT_QUOTA: NumberRule = { minimum: 10, maximum: 95 };

export const AUTO_ABORT_DAYS: NumberRule = { minimum: 0, maximum: 180 };
export const PRUNE_DAYS: NumberRule = { minimum: 0, maximum: 36_500 };
export const DELETE_DAYS: NumberRule = { minimum: 0, maximum: 36_500 };
export const NAMESPACES_PER_USER: NumberRule = { minimum: 0, maximum: 10_000 };

/** `None`, or 1 to 10000. */
export const NAMESPACE_QUOTA: TextRule = { pattern: "^(?:None|[1-9][0-9]{0,3}|10000)$" };

/** Most tags, roles and the like of one record. */
export const MAX_WORDS = 100;

const NO_DOT_SEGMENT = "(?!\\.{1,2}$)";

const NAME_OF_USER = `${NO_DOT_SEGMENT}[^\\[\\u0000-\\u001f:/,][^\\u0000-\\u001f:/,]*`;

export const USERNAME: TextRule = { pattern: `^${NAME_OF_USER}$` };

/** A user, or none. */
export const OWNER: TextRule = { maxLength: 64, pattern: `^(?:${NAME_OF_USER})?$` };

export const GROUPNAME: TextRule = {
  minLength: 1,
  maxLength: 184,
  pattern: `^${NO_DOT_SEGMENT}[^\\u0000-\\u001f:/,]*$`,
};

/** Names of content classes and retention classes. */
export const CLASS_NAME: TextRule = { pattern: `^${NO_DOT_SEGMENT}[^\\u0000-\\u001f\\u007f-\\u009f]*$` };

/** What a schema does not say of passwords. */
export const PASSWORD_RULES =
  "at most 64 characters, of at least two kinds of letters, digits and others, and as many as `consoleSecurity` asks for";

/** Somewhere two of different kinds stand side by side. */
const TWO_KINDS = "\\p{L}\\P{L}|\\P{L}\\p{L}|\\p{Nd}\\P{Nd}|\\P{Nd}\\p{Nd}";

/** The rules of a new tenant; `consoleSecurity` may set another shortest length, from 2 to 64, later. */
export const PASSWORD: TextRule = { minLength: 6, maxLength: 64, pattern: TWO_KINDS };

const RETENTION_OFFSET = "[RANC]?(?:[+-][0-9]{1,6}[yMwdhms])+";
const RETENTION_DATE = "[0-9]{4}-[0-9]{2}-[0-9]{2}(?:T[0-9:]{5,8}(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?";

export const RETENTION: TextRule = { pattern: `^(?:0|-1|-2|${RETENTION_OFFSET}|${RETENTION_DATE})$` };
export const RETENTION_OR_CLASS: TextRule = {
  pattern: `^(?:0|-1|-2|${RETENTION_OFFSET}|${RETENTION_DATE}|C\\+[^\\n\\r\\u2028\\u2029]{1,64})$`,
};

const DATE = "[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])";
const TIME = "(?:[01][0-9]|2[0-3]):[0-5][0-9](?::[0-5][0-9](?:\\.[0-9]{1,9})?)?";
const ZONE = "(?:Z|[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9])";

/** A date, or a time with or without its zone; empty counts as absent. */
export const REPORT_TIME: TextRule = { pattern: `^(?:${DATE}(?:T${TIME}${ZONE}?)?)?$` };

export const CHECKPOINT: TextRule = { pattern: "^(?:0|[0-9]{2}/[0-9]{2}/[0-9]{4})$" };

/** What lists are filtered by. */
export const FILTER: TextRule = { maxLength: 64, pattern: "^[^,]*$" };

const OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])";
const IPV4 = `${OCTET}(?:\\.${OCTET}){3}`;
const H = "[0-9A-Fa-f]{1,4}";
const IPV6 = `(?:${
  [
    `(?:${H}:){7}${H}`,
    `(?:${H}:){1,7}:`,
    ...[6, 5, 4, 3, 2, 1].map((most) => `(?:${H}:){1,${most}}(?::${H}){1,${7 - most}}`),
    `:(?:(?::${H}){1,7}|:)`,
  ].join("|")
})`;
const ADDRESS =
  `(?:${IPV4}(?:/(?:3[0-2]|[12]?[0-9]|${IPV4}))?|${IPV6}(?:/(?:12[0-8]|1[01][0-9]|[1-9]?[0-9]|${IPV6}))?)`;

/** Addresses, masks and CIDR blocks, several with commas. */
export const ADDRESSES: TextRule = { maxLength: 1000, pattern: `^${ADDRESS}(?: *, *${ADDRESS})*$` };
export const MAX_ADDRESSES = 1000;

const NOTICE_TYPE = "(?:GENERAL|SECURITY|COMPLIANCE)";
export const NOTICE_TYPES: TextRule = { pattern: `^${NOTICE_TYPE}(?: *, *${NOTICE_TYPE})*$` };
