import assert from "node:assert/strict";
import { z } from "zod";
import { HttpError } from "@/lib/http/errors.ts";
import { validate } from "@/lib/http/validation.ts";

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
