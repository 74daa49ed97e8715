import { z } from "zod";

/**
 * The store's rules for values beyond their types, in the terms of JSON Schema. The document shows these rules to clients.
 * The store itself checks them: a value that breaks one is its 400, and a store with fewer rules accepts more.
 */
interface TextRule {
  /** Characters. */
  readonly minLength?: number;
  readonly maxLength?: number;
  /** Without `\d`, `\w` and the like, which not every reader of the document takes for ASCII. */
  readonly pattern?: string;
  readonly enum?: readonly string[];
}

interface NumberRule {
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
const HARD_QUOTA_RULE: TextRule = {
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
const MAX_WORDS = 100;

const NO_DOT_SEGMENT = "(?!\\.{1,2}$)";

const NAME_OF_USER = `${NO_DOT_SEGMENT}[^\\[\\u0000-\\u001f:/,][^\\u0000-\\u001f:/,]*`;

const USERNAME: TextRule = { pattern: `^${NAME_OF_USER}$` };

/** A user, or none. */
export const OWNER: TextRule = { maxLength: 64, pattern: `^(?:${NAME_OF_USER})?$` };

export const GROUPNAME: TextRule = {
  minLength: 1,
  maxLength: 184,
  pattern: `^${NO_DOT_SEGMENT}[^\\u0000-\\u001f:/,]*$`,
};

/** Names of content classes and retention classes. */
const CLASS_NAME: TextRule = { pattern: `^${NO_DOT_SEGMENT}[^\\u0000-\\u001f\\u007f-\\u009f]*$` };

/** The rules for passwords that a schema cannot express. */
export const PASSWORD_RULES =
  "at most 64 characters, at least two of letters, digits and others, and the minimum length of `consoleSecurity`";

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

/** The filter of a list. */
const FILTER: TextRule = { maxLength: 64, pattern: "^[^,]*$" };

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
const ADDRESSES: TextRule = { maxLength: 1000, pattern: `^${ADDRESS}(?: *, *${ADDRESS})*$` };
const MAX_ADDRESSES = 1000;

const NOTICE_TYPE = "(?:GENERAL|SECURITY|COMPLIANCE)";
export const NOTICE_TYPES: TextRule = { pattern: `^${NOTICE_TYPE}(?: *, *${NOTICE_TYPE})*$` };

/** The store returns some of its numbers as text. */
const numeric = (value: unknown) => typeof value === "string" && /^-?\d{1,15}$/.test(value) ? Number(value) : value;

/** A whole number as the store or a client may write it: 85 or "85". */
const wholeNumber = z.preprocess(numeric, z.int()).meta({ type: "integer" });

/** Members of responses: what the store leaves out is null. */
export const returned = {
  text: (description: string) => z.string().nullable().default(null).meta({ description }),
  whole: (description: string) => wholeNumber.nullable().default(null).meta({ description }),
  flag: (description: string) => z.boolean().nullable().default(null).meta({ description }),
  /** A structure that is handed on as the store gives it. */
  open: (description: string) => z.unknown().default(null).meta({ description }),
} as const;

/** Members of bodies: all may be left out, and null counts as left out. */
export const given = {
  text: (description: string, rule: TextRule = {}) => z.string().meta({ ...rule }).nullish().meta({ description }),
  whole: (description: string, rule?: NumberRule) => wholeNumber.meta({ ...rule }).nullish().meta({ description }),
  flag: (description: string) => z.boolean().nullish().meta({ description }),
} as const;

/** A member of a record: as the store returns it, and as a body may set it. One side may be missing. */
export interface Member {
  readonly returned?: z.ZodType;
  readonly given?: z.ZodType;
}

/** Members of which both are described by the same words. */
export const member = {
  text: (description: string, rule?: TextRule): Member => ({
    returned: returned.text(description),
    given: given.text(description, rule),
  }),
  whole: (description: string, rule: NumberRule): Member => ({
    returned: returned.whole(description),
    given: given.whole(description, rule),
  }),
  flag: (description: string): Member => ({ returned: returned.flag(description), given: given.flag(description) }),
  /** One of some words, in a body. */
  choice: (description: string, words: readonly string[]): Member => ({
    returned: returned.text(description),
    given: z.enum(words).nullish(),
  }),
} as const;

type Members = Readonly<Record<string, Member>>;

/** One side of the members of a record, as the shape of a schema. */
export function sideOf(side: keyof Member, members: Members): Record<string, z.ZodType> {
  return Object.fromEntries(
    Object.entries(members).flatMap(([name, { [side]: schema }]) => schema ? [[name, schema]] : []),
  );
}

/** A settings document: what the store returns, and the body of a change. */
export function settingsDocument(id: string, members: Members, ofUpdate: { readonly examples?: unknown[] } = {}) {
  return {
    schema: z.looseObject(sideOf("returned", members)).meta({ id }),
    update: z.looseObject(sideOf("given", members)).meta({ id: `${id}Update`, ...ofUpdate }),
  } as const;
}

/** Most entries of a list within a body: far above what the store takes, and a bound. */
export const MAX_LISTED = 10_000;

/** A list in the store's wrapping: an object with one member. The store takes `most` entries. */
export function wrappedList<S extends z.ZodType>(name: string, item: S, most: number = MAX_WORDS) {
  return z.object({ [name]: z.array(item).max(MAX_LISTED).meta({ maxItems: most }) });
}

/** `tags` of tenants and namespaces. */
export const tags: Member = {
  returned: returned.open("`{tag: […]}`"),
  given: wrappedList("tag", z.string().min(1).max(64).regex(/^[^,]*$/, "Tags have no commas")).nullish().meta({
    description: "1 to 64 characters each, without commas; replaces all tags",
    examples: [{ tag: ["letters", "18th century"] }],
  }),
};

const HARD_QUOTA = "A number with at most two decimals, a space and MB, GB or TB";
const SOFT_QUOTA = "Per cent of the hard quota at which the store warns";

/** A storage size. */
export const hardQuota: Member = {
  returned: returned.text(HARD_QUOTA),
  given: z.string().meta({ ...HARD_QUOTA_RULE, examples: ["50 GB"] }).nullish().meta({ description: HARD_QUOTA }),
};

/** Percentage of a quota (spec, Limits: 0 to 100), of which the store may take less. */
export function softQuota(rule?: NumberRule): Member {
  return {
    returned: returned.whole(SOFT_QUOTA),
    given: z.preprocess(numeric, z.int().min(0).max(100)).meta({ type: "integer", ...rule }).nullish()
      .meta({ description: SOFT_QUOTA }),
  };
}

/** The part of an object's JSON Schema that says that a member is there and not null. */
export function isText(name: string) {
  return { required: [name], properties: { [name]: { type: "string" } } };
}

/** A name of a tenant, which is a label of a host name. */
export const hostLabel = z.string().min(1).max(63).regex(
  /^(?![Xx][Nn]--)[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/,
  "Names have letters, digits and inner hyphens, and do not begin with xn--",
);

/** A name of a namespace, which is a bucket: labels joined by dots, no IPv4 address (S3 API, bucket naming rules). */
export const namespaceName = z.string().min(1).max(63).regex(
  /^(?![Xx][Nn]--)(?!\d+(?:\.\d+){3}$)[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*$/,
  "Names have letters, digits, inner hyphens and single inner dots, do not begin with xn--, and are no IP address",
);

/** A user name; the store compares it without case. */
export const username = z.string().min(1).max(64).regex(
  /^[^[]/,
  'User names do not begin with "["',
).meta({ ...USERNAME });

/** A name of a content class or a retention class. */
export const className = z.string().min(1).max(64).meta({ ...CLASS_NAME });

const addresses = z.array(z.string().meta({ ...ADDRESSES })).max(MAX_LISTED).meta({ maxItems: MAX_ADDRESSES });
const eitherForm = z.union([addresses, z.looseObject({ ipAddress: addresses })]).nullish();

/** Address rules as clients may write them: lists, or lists in the store's wrapping. */
const givenIpSettings = z.object({
  allowAddresses: eitherForm,
  denyAddresses: eitherForm,
  allowIfInBothLists: z.boolean().nullish(),
}).meta({
  id: "IpSettings",
  description: "Addresses, masks or CIDR blocks; `{ipAddress: […]}` is accepted too",
  examples: [{ allowAddresses: [], denyAddresses: [], allowIfInBothLists: true }],
});

/** `ipSettings` of a body, in the store's wrapping. */
const wrappedIpSettings = givenIpSettings.transform(({ allowAddresses, denyAddresses, ...rest }) => ({
  allowAddresses: wrapped(allowAddresses),
  denyAddresses: wrapped(denyAddresses),
  ...rest,
})).nullish();

/** `ipSettings` of a response: flat lists, whichever way the store wraps them. */
const flatIpSettings = givenIpSettings.transform((
  { allowAddresses, denyAddresses, allowIfInBothLists },
) => ({
  allowAddresses: flat(allowAddresses),
  denyAddresses: flat(denyAddresses),
  allowIfInBothLists: allowIfInBothLists ?? null,
})).nullable().default(null);

/** The member `ipSettings` of settings documents. */
export const ipSettings: Member = { returned: flatIpSettings, given: wrappedIpSettings };

type EitherForm = z.output<typeof eitherForm>;

function wrapped(list: EitherForm): { ipAddress: string[] } | undefined {
  return list ? { ipAddress: flat(list) } : undefined;
}

function flat(list: EitherForm): string[] {
  return Array.isArray(list) ? list : list?.ipAddress ?? [];
}

/** The query of a request to the management API. Members that are undefined are left out; the others go in this order. */
export type StoreQuery = Readonly<Record<string, string | number | boolean | undefined>>;

const SORT_ORDERS: Readonly<Record<string, string>> = { asc: "ascending", desc: "descending" };

/** A query as the store wants it: HCP spells the sort orders out, and what is empty counts as absent. */
export function storeQuery(query: Readonly<Record<string, unknown>>): StoreQuery {
  const sent: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(query)) {
    if (typeof value === "number" || typeof value === "boolean") sent[name] = value;
    if (typeof value !== "string" || value === "") continue;
    sent[name] = name === "sortOrder" ? SORT_ORDERS[value] ?? value : value;
  }
  return sent;
}

/** `verbose` alone, for single records. */
export const verboseQuery = z.object({
  verbose: z.boolean().default(false).meta({ description: "Return all members, including read-only ones" }),
});

/** The query of every list (spec, Query parameters accepted by every list endpoint). */
export const listQuery = z.object({
  offset: z.int().min(0).optional().meta({ description: "Zero-based position of the first entry" }),
  count: z.int().min(0).optional().meta({ description: "Maximum number of entries" }),
  sortType: z.string().optional().meta({ description: "Member to sort by" }),
  sortOrder: z.enum(["asc", "desc", "ascending", "descending"]).optional(),
  filterType: z.string().optional().meta({ description: "Member to filter on" }),
  filterString: z.string().meta({ ...FILTER }).optional().meta({
    description: "Beginning of the member's value, case-insensitive",
  }),
  verbose: z.boolean().default(false).meta({ description: "Return full records instead of names" }),
});

/** A list whose names are under `member`: names, or records where the store returns an array of them. */
function listOf(id: string, member: string) {
  return z.union([
    z.array(z.record(z.string(), z.unknown())),
    z.looseObject({ [member]: z.array(z.string()).nullable().default(null) }),
  ]).meta({ id, description: "Names, or an array of full records with `verbose=true`" });
}

export const nameList = listOf("NameList", "name");
export const usernameList = listOf("UsernameList", "username");
export const groupnameList = listOf("GroupnameList", "groupname");
