import { z } from "zod";

import { DNS_LABEL, kind, Problem } from "./values.ts";

/** Names that a cluster's campaign tools agree on; the associated data of session cookies is the cookie's stem. */
export interface Conventions {
  /** Prefix of label and annotation keys, with its slash. */
  readonly labelDomain: string;
  /** Value of the label `app` on campaign Jobs. */
  readonly campaignApp: string;
  /** Value of the label `app` on warm-up Jobs. */
  readonly warmupApp: string;
  /** Value of the label `managed-by` in the label domain. */
  readonly managedBy: string;
  /** What a pipeline's ConfigMap name begins with. */
  readonly pipelinePrefix: string;
  /** Field manager of the status record's summary. */
  readonly summaryManager: string;
  /** Field manager of the status record's failures. */
  readonly failuresManager: string;
  /** Field manager of the tool that applies campaigns. */
  readonly applyManager: string;
  /** The namespace outside a cluster. */
  readonly defaultNamespace: string;
  /** The session cookie's name, before any `__Host-` prefix. */
  readonly cookieStem: string;
}

/** The two sets of names known by name; `stackroom` is the default. */
export const CONVENTIONS: Readonly<Record<"stackroom" | "htrflow", Conventions>> = {
  stackroom: {
    labelDomain: "campaigns.stackroom.dev/",
    campaignApp: "campaign-batch",
    warmupApp: "campaign-warmup",
    managedBy: "converter",
    pipelinePrefix: "pipeline-",
    summaryManager: "stackroom-web",
    failuresManager: "stackroom-web-failures",
    applyManager: "stackroom-campaigns",
    defaultNamespace: "batch-default",
    cookieStem: "results_session",
  },
  htrflow: {
    labelDomain: "htrflow.riksarkivet.se/",
    campaignApp: "htrflow-batch",
    warmupApp: "htrflow-warmup",
    managedBy: "converter",
    pipelinePrefix: "htr-pipeline-",
    summaryManager: "htrflow-web",
    failuresManager: "htrflow-web-failures",
    applyManager: "htrflow-campaigns",
    defaultNamespace: "htr-batch",
    cookieStem: "htr_session",
  },
};

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
    return { ...CONVENTIONS[preset], ...members };
  }
  const issue = result.error.issues[0];
  if (issue.code === "unrecognized_keys") {
    const known = Object.keys(overrides.shape).join(", ");
    return new Problem(`has the unknown member ${JSON.stringify(issue.keys[0].slice(0, 40))}; known are ${known}`);
  }
  return issue.path.length > 0 ? new Problem(`has no valid value for the member ${issue.path.join(".")}`) : undefined;
}

function parseJson(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}
