import { z } from "zod";
import {
  CLASS_NAME,
  HARD_QUOTA_RULE,
  MAX_WORDS,
  NAMESPACE_SOFT_QUOTA,
  type NumberRule,
  type TextRule,
  USERNAME,
} from "./store_rules.ts";

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

/** A member of a settings document: as the store returns it, and as a body may change it. */
export interface Member {
  readonly returned: z.ZodType;
  readonly given: z.ZodType;
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
} as const;

type Members = Readonly<Record<string, Member>>;

/** One side of the members of a document, as the shape of a schema. */
export function sideOf(side: keyof Member, members: Members): Record<string, z.ZodType> {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, member[side]]));
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
export const tags = wrappedList("tag", z.string().min(1).max(64).regex(/^[^,]*$/, "Tags have no commas")).nullish()
  .meta({
    description: "1 to 64 characters each, without commas; the given set replaces the present one",
    examples: [{ tag: ["letters", "18th century"] }],
  });

export const HARD_QUOTA = "A number with at most two decimals, a space and MB, GB or TB";
export const SOFT_QUOTA = "Per cent of the hard quota at which the store warns";

/** A storage size. */
export const hardQuota = z.string().meta({ ...HARD_QUOTA_RULE, examples: ["50 GB"] }).nullish()
  .meta({ description: HARD_QUOTA });

/** Percentage of a quota (spec, Limits: 0 to 100). */
const percentage = z.preprocess(numeric, z.int().min(0).max(100)).meta({ type: "integer" });

export const tenantSoftQuota = percentage.nullish().meta({ description: SOFT_QUOTA });
/** The store takes less of a namespace than of a tenant. */
export const namespaceSoftQuota = percentage.meta({ ...NAMESPACE_SOFT_QUOTA }).nullish()
  .meta({ description: SOFT_QUOTA });

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
