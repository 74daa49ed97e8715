import type { z } from "zod";
import { invalid, type ValidationEntry } from "./errors.ts";
import { echo, validate } from "./validation.ts";

const TRUE = new Set(["true", "1", "yes", "on", "t", "y"]);
const FALSE = new Set(["false", "0", "no", "off", "f", "n"]);

/**
 * The query of a request under a schema of plain types: integers, numbers and booleans are read from their text by the
 * type the schema names, so that one schema both validates and documents. Unknown members are dropped, the last of
 * repeated ones counts.
 *
 * @param query the raw query string without `?`
 * @throws HttpError 422, entries under `query`
 */
export function parseQuery<S extends z.ZodObject>(schema: S, query: string): z.output<S> {
  return validate(schema, query === "" ? {} : readTexts(schema, new URLSearchParams(query), "query"), "query");
}

/** Reads the text fields that a schema names; also used for path parameters and forms. */
export function readTexts(
  schema: z.ZodObject,
  texts: { get(name: string): string | null; getAll?(name: string): string[] },
  location: string,
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  const problems: ValidationEntry[] = [];
  for (const [name, type] of fieldsOf(schema)) {
    const text = texts.getAll ? texts.getAll(name).at(-1) : texts.get(name) ?? undefined;
    if (text === undefined) continue;
    const value = fromText(type, text);
    if (value === undefined) {
      problems.push({ ...UNREADABLE[type], loc: [location, name], ...echo([name], text) });
    } else values[name] = value;
  }
  if (problems.length > 0) throw invalid(problems);
  return values;
}

type Readable = "boolean" | "int" | "number" | "string";

const UNREADABLE: Readonly<Record<Readable, { type: string; msg: string }>> = {
  boolean: { type: "bool_parsing", msg: "Input should be a valid boolean, unable to interpret input" },
  int: { type: "int_parsing", msg: "Input should be a valid integer, unable to parse string as an integer" },
  number: { type: "float_parsing", msg: "Input should be a valid number, unable to parse string as a number" },
  string: { type: "string_type", msg: "Input should be a valid string" },
};

function fromText(type: Readable, text: string): string | number | boolean | undefined {
  if (type === "boolean") {
    const word = text.toLowerCase();
    return TRUE.has(word) ? true : FALSE.has(word) ? false : undefined;
  }
  if (type === "int") return /^\s*[+-]?\d{1,400}\s*$/.test(text) ? safeInteger(Number(text)) : undefined;
  if (type === "number") return /^\s*[+-]?\d{1,15}(?:\.\d{1,15})?\s*$/.test(text) ? Number(text) : undefined;
  return text;
}

/** Beyond what is counted exactly, every number means "more than there is". */
function safeInteger(value: number): number {
  return Math.max(Number.MIN_SAFE_INTEGER, Math.min(value, Number.MAX_SAFE_INTEGER));
}

const fields = new WeakMap<z.ZodObject, readonly (readonly [name: string, type: Readable])[]>();

/** The fields of a schema, which is walked through once. */
function fieldsOf(schema: z.ZodObject): readonly (readonly [name: string, type: Readable])[] {
  let known = fields.get(schema);
  if (!known) {
    known = Object.entries(schema.shape).map(([name, type]) => [name, baseType(type)] as const);
    fields.set(schema, known);
  }
  return known;
}

/** The type under `optional`, `nullable` and `default` wrappers. */
function baseType(type: z.core.$ZodType): Readable {
  let { def } = type._zod;
  while ("innerType" in def && isSchema(def.innerType)) def = def.innerType._zod.def;
  if (def.type === "boolean") return "boolean";
  if (def.type !== "number") return "string";
  return "format" in def && String(def.format).includes("int") ? "int" : "number";
}

function isSchema(value: unknown): value is z.core.$ZodType {
  return typeof value === "object" && value !== null && "_zod" in value;
}
