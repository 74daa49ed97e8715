import type { z } from "zod";
import { invalid, type ValidationEntry } from "./errors.ts";
import { isSecretName } from "./redact.ts";

const MAX_ENTRIES = 100;
const MAX_ECHOED_CHARACTERS = 256;

type Issue = z.core.$ZodIssue;
type Path = readonly (string | number)[];
type Described = Pick<ValidationEntry, "type" | "msg" | "ctx">;

/**
 * The output of a schema for a value.
 *
 * @param location `body`, `query` or `path`: the first element of every `loc`
 * @throws HttpError 422 with one entry per problem, 100 at most; values are echoed only when short, plain and not secret
 */
export function validate<S extends z.ZodType>(schema: S, value: unknown, location: string): z.output<S> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalid(result.error.issues.flatMap((issue) => entries(issue, value, location)).slice(0, MAX_ENTRIES));
}

/** The entry for a field that is not there. */
export function missing(location: Path): ValidationEntry {
  return { type: "missing", loc: location, msg: "Field required" };
}

/** `input` for an entry, where the value may be shown. */
function echo(path: Path, input: unknown): Pick<ValidationEntry, "input"> {
  if (path.some((part) => typeof part === "string" && isSecretName(part))) return {};
  if (typeof input === "string") return input.length <= MAX_ECHOED_CHARACTERS ? { input } : {};
  return input === null || typeof input === "number" || typeof input === "boolean" ? { input } : {};
}

function entries(issue: Issue, value: unknown, location: string): ValidationEntry[] {
  const path = issue.path.map((part) => typeof part === "symbol" ? String(part) : part);
  const loc = [location, ...path];
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      type: "extra_forbidden",
      loc: [...loc, key],
      msg: "Extra inputs are not permitted",
    }));
  }
  const input = valueAt(value, path);
  if (input === undefined) return [missing(loc)];
  return [{ ...describe(issue, input), loc, ...echo(path, input) }];
}

function describe(issue: Issue, input: unknown): Described {
  switch (issue.code) {
    case "invalid_type":
      return TYPE_PROBLEMS[issue.expected] ?? { type: "value_error", msg: "Input has the wrong type" };
    case "too_small":
    case "too_big":
      return outOfBounds(issue, input);
    case "invalid_value": {
      const words = issue.values.map((value) => `'${String(value)}'`);
      const expected = words.length > 1 ? `${words.slice(0, -1).join(", ")} or ${words.at(-1)}` : words.join();
      return { type: "enum", msg: `Input should be ${expected}`, ctx: { expected } };
    }
    case "invalid_format":
      // A pattern's own words say what it wants; "a valid regex" would be wrong.
      return {
        type: "string_pattern_mismatch",
        msg: issue.format === "regex" ? issue.message : `Input should be a valid ${issue.format}`,
      };
    default:
      return { type: "value_error", msg: issue.message };
  }
}

const TYPE_PROBLEMS: Readonly<Record<string, Described>> = {
  string: { type: "string_type", msg: "Input should be a valid string" },
  int: { type: "int_type", msg: "Input should be a valid integer" },
  number: { type: "float_type", msg: "Input should be a valid number" },
  boolean: { type: "bool_type", msg: "Input should be a valid boolean" },
  array: { type: "list_type", msg: "Input should be a valid list" },
  object: { type: "dict_type", msg: "Input should be a valid dictionary" },
  record: { type: "dict_type", msg: "Input should be a valid dictionary" },
};

function outOfBounds(issue: Extract<Issue, { code: "too_small" | "too_big" }>, input: unknown): Described {
  const isSmall = issue.code === "too_small";
  const limit = Number(isSmall ? issue.minimum : issue.maximum);
  const [kind, bound, length, order] = isSmall
    ? ["short", "least", "min_length", "greater"]
    : ["long", "most", "max_length", "less"];
  const plural = isSmall && limit === 1 ? "" : "s";
  if (issue.origin === "string") {
    return {
      type: `string_too_${kind}`,
      msg: `String should have at ${bound} ${limit} character${plural}`,
      ctx: { [length]: limit },
    };
  }
  if (Array.isArray(input)) {
    return {
      type: `too_${kind}`,
      msg: `List should have at ${bound} ${limit} item${plural} after validation, not ${input.length}`,
      ctx: { field_type: "List", [length]: limit, actual_length: input.length },
    };
  }
  const isStrict = issue.inclusive === false;
  return {
    type: `${order}_than${isStrict ? "" : "_equal"}`,
    msg: `Input should be ${order} than ${isStrict ? "" : "or equal to "}${limit}`,
    ctx: { [order[0] + (isStrict ? "t" : "e")]: limit },
  };
}

function valueAt(value: unknown, path: Path): unknown {
  let current = value;
  for (const part of path) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, part)) return undefined;
    current = Reflect.get(current, part);
  }
  return current;
}

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
