import { z } from "zod";
import { HARD_QUOTA_RULE, MAX_WORDS, NAMESPACE_SOFT_QUOTA, type NumberRule, type TextRule } from "./store_rules.ts";

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
