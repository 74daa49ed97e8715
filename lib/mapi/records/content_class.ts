import { z } from "zod";
import { MAX_LISTED } from "./fields.ts";
import { className } from "./names.ts";

const contentProperty = z.object({
  name: z.string().min(1).max(25).regex(/^\w+$/, "Names of properties have letters, digits and underscores"),
  expression: z.string().min(1).meta({ description: "An XPath expression" }),
  type: z.string().min(1).meta({ description: "STRING, INTEGER, BOOLEAN, DATE, FLOAT or FULLTEXT" }),
  multivalued: z.boolean().nullish().meta({ description: "Whether it may have several values; false when absent" }),
  format: z.string().nullish().meta({ description: "How dates and numbers are written" }),
}).meta({ id: "ContentProperty" });

const properties = z.array(contentProperty).max(MAX_LISTED);
const names = z.array(z.string()).max(MAX_LISTED);

/** Lists come with or without the store's wrapping; they go on without. */
const givenProperties = z.union([
  properties,
  z.object({ contentProperty: properties }).transform(({ contentProperty }) => contentProperty),
]).nullish();
const givenNames = z.union([names, z.object({ name: names }).transform(({ name }) => name)]).nullish();

/** Body of a content class's change; both lists replace what was there. */
export const contentClassUpdate = z.object({
  contentProperties: givenProperties,
  namespaces: givenNames.meta({ description: "Names of the namespaces whose objects it describes" }),
}).meta({ id: "ContentClassUpdate" });

export const contentClassCreate = z.object({
  name: className.meta({ examples: ["letters"] }),
  ...contentClassUpdate.shape,
}).meta({ id: "ContentClassCreate" });

/** A list of an answer, unwrapped where it is an object with that one member. */
function unwrapped(member: string) {
  return z.preprocess(
    (value) => isObject(value) && Array.isArray(value[member]) ? value[member] : value,
    z.array(z.unknown()),
  ).meta({ type: "array" }).nullable().default(null);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export const contentClass = z.looseObject({
  name: z.string().nullable().default(null),
  contentProperties: unwrapped("contentProperty"),
  namespaces: unwrapped("name"),
}).meta({ id: "ContentClass" });
