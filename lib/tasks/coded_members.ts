import { z } from "zod";
import { PROBLEM_CODES } from "@/lib/std/coded.ts";

const code = z.enum(PROBLEM_CODES).meta({ id: "ProblemCode", description: "Code of the sentence beside it" });
const params = z.record(z.string(), z.union([z.string(), z.number()])).meta({
  id: "ProblemParams",
  description: "Values in the sentence of a code",
});

/** A code with its values; null for a sentence without one, or with one of another version. */
export const codedOrNull = z.object({ code, params: params.optional() }).nullable().catch(null);

/** The members of a code beside a sentence, in schemas; a code of another version is left out. */
export const codeMembers = { code: code.optional().catch(undefined), params: params.optional() };
