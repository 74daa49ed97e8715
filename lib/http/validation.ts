import type { z } from "zod";
import { invalid, type ValidationEntry } from "./errors.ts";
import { isSecretName } from "./redact.ts";

const MAX_ENTRIES = 100;
const MAX_ECHOED_CHARACTERS = 256;

type Issue = z.core.$ZodIssue;
type Path = readonly (string | number)[];
type Described = Pick<ValidationEntry, "type" | "msg" | "ctx">;

/**
 * What a schema makes of a value.
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
export function echo(path: Path, input: unknown): Pick<ValidationEntry, "input"> {
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
