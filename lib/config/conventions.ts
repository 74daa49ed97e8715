import { z } from "zod";
import { CONVENTIONS, type Conventions } from "@/lib/campaigns/projection/conventions.ts";
import { DNS_LABEL } from "@/lib/std/dns_label.ts";

import { kind, Problem } from "./values.ts";

const labelValue = z.string().regex(/^[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/);
const manager = z.string().regex(/^[\x21-\x7e]{1,128}$/);

const overrides = z.strictObject({
  preset: z.enum(["stackroom", "htrflow"]).default("stackroom"),
  labelDomain: z.string().regex(/^[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?\/$/).optional(),
  campaignApp: labelValue.optional(),
  warmupApp: labelValue.optional(),
  managedBy: labelValue.optional(),
  pipelinePrefix: z.string().regex(/^[a-z0-9][a-z0-9.-]{0,62}$/).optional(),
  summaryManager: manager.optional(),
  failuresManager: manager.optional(),
  applyManager: manager.optional(),
  defaultNamespace: z.string().regex(DNS_LABEL).optional(),
  cookieStem: z.string().regex(/^[A-Za-z0-9_-]{1,64}$/).optional(),
});

/** Which conventions hold: a preset's name, or a JSON object of members of {@linkcode Conventions} over a preset. */
export const conventions = () => kind("stackroom, htrflow or a JSON object of overrides", parse);

function parse(value: string): Conventions | Problem | undefined {
  if (value === "stackroom" || value === "htrflow") return CONVENTIONS[value];
  const result = overrides.safeParse(parseJson(value));
  if (result.success) {
    const { preset, ...members } = result.data;
    const merged = { ...CONVENTIONS[preset], ...members };
    return twins(merged) ?? merged;
  }
  const issue = result.error.issues[0];
  if (issue.code === "unrecognized_keys") {
    const known = Object.keys(overrides.shape).join(", ");
    return new Problem(`has the unknown member ${JSON.stringify(issue.keys[0].slice(0, 40))}; known are ${known}`);
  }
  return issue.path.length > 0 ? new Problem(`has no valid value for the member ${issue.path.join(".")}`) : undefined;
}

/** Two roles of one name could not be distinguished: neither two kinds of Jobs, nor the two halves of a record. */
function twins(conventions: Conventions): Problem | undefined {
  for (const names of [["campaignApp", "warmupApp"], ["summaryManager", "failuresManager", "applyManager"]] as const) {
    if (new Set(names.map((name) => conventions[name])).size < names.length) {
      return new Problem(`must have different values for ${names.join(", ")}`);
    }
  }
}

function parseJson(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}
