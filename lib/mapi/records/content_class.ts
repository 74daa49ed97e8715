import { z } from "zod";
import { isObject } from "@/lib/std/is_object.ts";
import { className, given, MAX_LISTED, namespaceName } from "./fields.ts";
import { printable } from "./store_rules.ts";

/** Most properties of one class; each has a name of its own. */
const MAX_PROPERTIES = 1000;

const contentProperty = z.object({
  name: z.string().min(1).max(25).regex(/^[A-Za-z0-9_]+$/, "Names of properties have letters, digits and underscores"),
  expression: z.string().min(1).meta({ ...printable(1024), description: "An XPath expression" }),
  type: z.string().min(1).meta({
    enum: ["STRING", "INTEGER", "BOOLEAN", "DATE", "DATETIME", "FLOAT", "FULLTEXT"],
    description: "How its values are read",
  }),
  multivalued: z.boolean().nullish().meta({ description: "Whether it may have several values; false when absent" }),
  format: given.text("How dates and numbers are written", printable(256)),
}).meta({ id: "ContentProperty" });

const properties = z.array(contentProperty).max(MAX_LISTED).meta({ maxItems: MAX_PROPERTIES });
const names = z.array(namespaceName).max(MAX_LISTED);

/** Lists come with or without the store's wrapping; they go on without. */
const givenProperties = z.union([
  properties,
  z.object({ contentProperty: properties }).transform(({ contentProperty }) => contentProperty),
]).nullish();
const givenNames = z.union([names, z.object({ name: names }).transform(({ name }) => name)]).nullish();

const TITLE = { name: "title", expression: "/note/title", type: "STRING" };

/** Body of a content class's change; both lists replace what was there. */
export const contentClassUpdate = z.object({
  contentProperties: givenProperties,
  namespaces: givenNames.meta({ description: "Names of the namespaces whose objects it describes" }),
}).meta({ id: "ContentClassUpdate", examples: [{ contentProperties: [TITLE] }] });

export const contentClassCreate = z.object({
  name: className.meta({ examples: ["notes"] }),
  ...contentClassUpdate.shape,
}).meta({ id: "ContentClassCreate", examples: [{ name: "notes", contentProperties: [TITLE] }] });

/** A list of a response, unwrapped where it is an object with that one member. */
function unwrapped(member: string) {
  return z.preprocess(
    (value) => isObject(value) && Array.isArray(value[member]) ? value[member] : value,
    z.array(z.unknown()),
  ).meta({ type: "array" }).nullable().default(null);
}

export const contentClass = z.looseObject({
  name: z.string().nullable().default(null),
  contentProperties: unwrapped("contentProperty"),
  namespaces: unwrapped("name"),
}).meta({ id: "ContentClass" });
