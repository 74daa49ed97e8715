import { z } from "zod";

/** Most volumes of a campaign. */
const MAX_COMPLETIONS = 10_000;
const MAX_INT32 = 0x7fff_ffff;
const GATE = "warmup-wait";

/** A field that may be absent or null. */
function optional<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform((value) => value ?? undefined);
}

function count(least: number, most: number) {
  const error = `must be a whole number from ${least} to ${most}`;
  return z.int({ error }).min(least, { error }).max(most, { error });
}

const NOT_OFFERED = z.null({ error: "is not offered by this cluster" }).optional();

const FAILURE_POLICY = z.object({
  rules: z.array(z.object({
    action: z.enum(["Ignore", "FailIndex"], { error: "Ignore and FailIndex are the actions that are offered" }),
    onExitCodes: optional(z.object({
      containerName: z.string(),
      operator: z.literal("In", { error: "must be In" }),
      values: z.array(z.number()).min(1),
    })),
    onPodConditions: optional(z.array(z.object({ type: z.string(), status: z.string().default("True") }))),
  })),
});

const CONTAINER = z.looseObject({
  name: z.string(),
  image: z.string().min(1),
  terminationMessagePath: z.string().default("/dev/termination-log"),
  terminationMessagePolicy: z.enum(["File", "FallbackToLogsOnError"]).default("File"),
});

const VOLUME = z.looseObject({
  name: z.string(),
  configMap: optional(z.looseObject({ name: z.string() })),
  persistentVolumeClaim: optional(z.looseObject({ claimName: z.string() })),
});

/** The fields of a batch/v1 spec that the workers of one kind of Job obey. */
function jobSpec(mode: "Indexed" | "NonIndexed", main: string) {
  const isCampaign = mode === "Indexed";
  const completionMode = z.literal(mode, { error: `must be ${mode} here` });
  const first = { error: `must be ${main} here`, path: [0, "name"] };
  const gate = { error: `${GATE} is the only one that is offered by this cluster` };
  const map = { error: "the volume `campaign` must name a ConfigMap with volumes.txt" };
  return z.looseObject({
    activeDeadlineSeconds: NOT_OFFERED,
    successPolicy: NOT_OFFERED,
    managedBy: NOT_OFFERED,
    manualSelector: NOT_OFFERED,
    parallelism: count(0, MAX_INT32).default(1),
    completions: count(1, isCampaign ? MAX_COMPLETIONS : 1).default(1),
    // Without indexes is the default of the API.
    completionMode: isCampaign ? completionMode : completionMode.default(mode),
    backoffLimit: optional(count(0, MAX_INT32)),
    backoffLimitPerIndex: isCampaign
      ? optional(count(0, MAX_INT32))
      : z.unknown().optional().transform(() => undefined),
    maxFailedIndexes: optional(count(0, MAX_COMPLETIONS)),
    ttlSecondsAfterFinished: optional(count(0, MAX_INT32)),
    suspend: z.boolean({ error: "must be a boolean" }).default(false),
    podFailurePolicy: optional(FAILURE_POLICY),
    podReplacementPolicy: optional(z.enum(["TerminatingOrFailed", "Failed"])),
    template: z.looseObject({
      metadata: optional(z.looseObject({ labels: optional(z.record(z.string(), z.string())) })),
      spec: z.looseObject({
        restartPolicy: z.literal("Never", { error: "must be Never here" }),
        containers: z.array(CONTAINER).refine(([container]) => container?.name === main, first),
        initContainers: optional(
          z.array(CONTAINER).refine((gates) => gates.length <= 1 && gates.every(({ name }) => name === GATE), gate),
        ),
        volumes: z.array(VOLUME).default([]).refine(
          (volumes) => !isCampaign || volumes.some(({ name, configMap }) => name === "campaign" && configMap),
          map,
        ),
        activeDeadlineSeconds: optional(count(1, MAX_INT32)),
        terminationGracePeriodSeconds: count(0, MAX_INT32).default(30),
      }),
    }),
  });
}

export const CAMPAIGN_SPEC = jobSpec("Indexed", "wrapper");
export const WARMUP_SPEC = jobSpec("NonIndexed", "warmup");

type Given = z.output<typeof CAMPAIGN_SPEC>;

export type Container = z.output<typeof CONTAINER>;

/** The spec of a pod. The controller adds `hostname`, the scheduler `nodeName`. */
export type PodSpec = Given["template"]["spec"] & { readonly hostname?: string; readonly nodeName?: string };

/** The spec of a stored Job: what a client gave, with the defaults that depend on other fields. */
export type JobSpec = Given & {
  readonly backoffLimit: number;
  readonly podReplacementPolicy: "TerminatingOrFailed" | "Failed";
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
  readonly template: { readonly metadata: { readonly labels: Readonly<Record<string, string>> } };
};
