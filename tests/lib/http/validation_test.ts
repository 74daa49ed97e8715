import assert from "node:assert/strict";
import { z } from "zod";
import { HttpError } from "@/lib/http/errors.ts";
import { parseQuery, validate } from "@/lib/http/operation.ts";

function refused(schema: z.ZodType, value: unknown): unknown {
  try {
    validate(schema, value, "body");
  } catch (error) {
    if (error instanceof HttpError) return error.detail;
    throw error;
  }
  return null;
}

Deno.test("validation: a pattern says in its own words what it wants", () => {
  const schema = z.object({ name: z.string().regex(/^[a-z]+$/, "Names have letters only") });
  assert.deepEqual(refused(schema, { name: "a1" }), [
    { type: "string_pattern_mismatch", msg: "Names have letters only", loc: ["body", "name"], input: "a1" },
  ]);
});

const schema = z.object({
  flag: z.boolean().default(false),
  count: z.int().min(1).optional(),
  ratio: z.number().nullish(),
  word: z.enum(["a", "b"]).optional(),
  password: z.int().optional(),
  needed: z.string(),
});

function problems(query: string) {
  try {
    parseQuery(schema, query);
  } catch (error) {
    assert.ok(error instanceof HttpError);
    return error.detail;
  }
  assert.fail("accepted");
}

Deno.test("query: text is read by the type the schema names", () => {
  for (const word of ["true", "1", "YES", "on", "T", "y"]) {
    assert.equal(parseQuery(schema, `needed=x&flag=${word}`).flag, true);
  }
  for (const word of ["false", "0", "No", "off", "f", "N"]) {
    assert.equal(parseQuery(schema, `needed=x&flag=${word}`).flag, false);
  }
  assert.deepEqual(parseQuery(schema, "needed=5&count=%207&ratio=-1.5&word=a&word=b&odd=1&__proto__=x"), {
    flag: false,
    count: 7,
    ratio: -1.5,
    word: "b",
    needed: "5",
  });
});

Deno.test("query: problems are named one by one, secrets are not shown", () => {
  assert.deepEqual(problems(""), [{ type: "missing", loc: ["query", "needed"], msg: "Field required" }]);
  assert.deepEqual(problems("needed=x&count=0"), [
    {
      type: "greater_than_equal",
      loc: ["query", "count"],
      msg: "Input should be greater than or equal to 1",
      ctx: { ge: 1 },
      input: 0,
    },
  ]);
  assert.deepEqual(problems("needed=x&flag=maybe&password=hush"), [
    {
      type: "bool_parsing",
      loc: ["query", "flag"],
      msg: "Input should be a valid boolean, unable to interpret input",
      input: "maybe",
    },
    {
      type: "int_parsing",
      loc: ["query", "password"],
      msg: "Input should be a valid integer, unable to parse string as an integer",
    },
  ]);
});
