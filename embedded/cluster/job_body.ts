import { z } from "zod";
import { invalid } from "./api_status.ts";
import { type ClusterConventions, jobSelector, type NewJob } from "./campaign_objects.ts";
import type { Resource } from "./discovery.ts";
import type { JsonObject } from "./json_body.ts";
import type { JobSpec } from "./kube_objects.ts";
import { checkIdentity, freeMetadata } from "./object_body.ts";
import { isCampaignJob, isWarmupJob } from "./submitted_campaign.ts";

/** Most volumes of a campaign. */
const MAX_COMPLETIONS = 10_000;
const MAX_INT32 = 0x7fff_ffff;
const GATE = "warmup-wait";

/**
 * Reads a Job from a request's body and adds the defaults of batch/v1. Only Jobs of campaigns and of warm-ups are offered,
 * by their labels, since the workers here do no other work.
 *
 * @throws ApiError 400 for another object, 422 for an invalid Job and for a field that the controller here does not obey
 */
export function jobContent(
  { resource, namespace, name }: { readonly resource: Resource; readonly namespace: string; readonly name: string },
  conventions: ClusterConventions,
  body: JsonObject,
): NewJob {
  checkIdentity(resource, namespace, name, body);
  const reject = (field: string, why: string) => invalid(resource, name, field, why);
  // The controller's label on pods holds the name.
  if (name.length > 63) throw reject("metadata.name", "must have at most 63 characters");
  const metadata = { name, namespace, generation: 1, ...freeMetadata(resource, name, body) };
  const isCampaign = isCampaignJob({ metadata }, conventions);
  if (!isCampaign && !isWarmupJob({ metadata }, conventions)) {
    const { campaignApp, warmupApp, labelDomain, managedBy } = conventions;
    const why = `a Job that is not of a campaign is not offered by this cluster: label it app=${campaignApp} (or ` +
      `app=${warmupApp}) and ${labelDomain}managed-by=${managedBy}`;
    throw reject("metadata.labels", why);
  }
  const read = (isCampaign ? CAMPAIGN_SPEC : WARMUP_SPEC).safeParse(body.spec ?? {});
  if (!read.success) {
    const [{ path, message }] = read.error.issues;
    const field = path.map((part) => typeof part === "number" ? `[${part}]` : `.${String(part)}`).join("");
    throw reject(`spec${field}`, message);
  }
  const { podFailurePolicy, podReplacementPolicy = "TerminatingOrFailed", template, ...given } = read.data;
  const { selector, podLabels } = jobSelector(name);
  const spec: JobSpec = {
    ...given,
    backoffLimit: given.backoffLimit ?? (given.backoffLimitPerIndex === undefined ? 6 : MAX_INT32),
    podFailurePolicy,
    podReplacementPolicy: podFailurePolicy ? "Failed" : podReplacementPolicy,
    selector,
    template: {
      ...template,
      metadata: { ...template.metadata, labels: { ...template.metadata?.labels, ...podLabels } },
    },
  };
  return { apiVersion: "batch/v1", kind: "Job", metadata, spec, status: {} };
}

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
function jobSpec(mode: JobSpec["completionMode"], main: string) {
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

const CAMPAIGN_SPEC = jobSpec("Indexed", "wrapper");
const WARMUP_SPEC = jobSpec("NonIndexed", "warmup");
