import { z } from "zod";

/** The store answers some of its numbers as text. */
const numeric = (value: unknown) => typeof value === "string" && /^-?\d{1,15}$/.test(value) ? Number(value) : value;

/** A whole number as the store or a client may write it: 85 or "85". */
const wholeNumber = z.preprocess(numeric, z.int()).meta({ type: "integer" });

/** Members of answers: what the store leaves out is null. */
export const answered = {
  text: (description: string) => z.string().nullable().default(null).meta({ description }),
  whole: (description: string) => wholeNumber.nullable().default(null).meta({ description }),
  flag: (description: string) => z.boolean().nullable().default(null).meta({ description }),
  /** A structure that is handed on as the store gives it. */
  open: (description: string) => z.unknown().default(null).meta({ description }),
} as const;

/** Members of bodies: all may be left out, and null counts as left out. */
export const given = {
  text: (description: string) => z.string().nullish().meta({ description }),
  whole: (description: string) => wholeNumber.nullish().meta({ description }),
  flag: (description: string) => z.boolean().nullish().meta({ description }),
} as const;

/** Most entries of a list within a body: far above what the store takes, and a bound. */
export const MAX_LISTED = 10_000;

/** A list in the store's wrapping: an object with one member. */
export function wrappedList<S extends z.ZodType>(name: string, item: S) {
  return z.object({ [name]: z.array(item).max(MAX_LISTED) });
}

/** `tags` of tenants and namespaces. */
export const tags = wrappedList("tag", z.string().min(1).max(64).regex(/^[^,]*$/, "Tags have no commas")).nullish()
  .meta({
    description: "1 to 64 characters each, without commas; the given set replaces the present one",
    examples: [{ tag: ["letters", "18th century"] }],
  });

export const HARD_QUOTA = "A number with at most two decimals, a space and MB, GB or TB";
export const SOFT_QUOTA = "Per cent of the hard quota at which the store warns";

/** Percentage of a quota (spec, Limits: 0 to 100). */
export const softQuota = z.preprocess(numeric, z.int().min(0).max(100)).meta({ type: "integer" }).nullish().meta({
  description: SOFT_QUOTA,
  minimum: 0,
  maximum: 100,
});
