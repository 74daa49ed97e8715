import { entries, isObject, member, stringAt } from "@/lib/std/untrusted.ts";
import { invalid } from "./api_status.ts";
import { type ClusterConventions, jobSelector, type NewJob } from "./campaign_objects.ts";
import type { JsonObject } from "./json_body.ts";
import { checkIdentity, freeMetadata } from "./object_body.ts";
import type { JobSpec } from "./objects.ts";
import type { Resource } from "./discovery.ts";
import { isCampaignJob, isWarmupJob } from "./submitted_campaign.ts";

/** Most volumes of a campaign. */
const MAX_COMPLETIONS = 10_000;
const MAX_INT32 = 0x7fff_ffff;

/**
 * Reads a Job from a request's body and adds the defaults of batch/v1. Only Jobs of campaigns and of warm-ups are offered,
 * by their labels, since the workers here do no other work.
 *
 * @throws ApiError 400 for another object, 422 for an invalid Job and for a field that the controller here does not obey
 */
export function jobContent(
  resource: Resource,
  conventions: ClusterConventions,
  namespace: string,
  name: string,
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
  const spec = isObject(body.spec) ? body.spec : {};
  for (const field of ["activeDeadlineSeconds", "successPolicy", "managedBy", "manualSelector"]) {
    if (spec[field] !== undefined && spec[field] !== null) throw reject(`spec.${field}`, NOT_OFFERED);
  }
  const count = (field: string, least: number, most: number, otherwise: number | undefined) => {
    const value = spec[field] ?? otherwise;
    const isCount = value === undefined || Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
    if (!isCount) throw reject(`spec.${field}`, `must be a whole number from ${least} to ${most}`);
    return value === undefined ? undefined : Number(value);
  };
  const mode = spec.completionMode ?? "NonIndexed";
  if (mode !== (isCampaign ? "Indexed" : "NonIndexed")) {
    throw reject("spec.completionMode", `must be ${isCampaign ? "Indexed" : "NonIndexed"} here`);
  }
  const suspend = spec.suspend ?? false;
  if (typeof suspend !== "boolean") throw reject("spec.suspend", "must be a boolean");
  const completions = count("completions", 1, isCampaign ? MAX_COMPLETIONS : 1, 1);
  const backoffLimitPerIndex = isCampaign ? count("backoffLimitPerIndex", 0, MAX_INT32, undefined) : undefined;
  const podFailurePolicy = readFailurePolicy(spec.podFailurePolicy, reject);
  const { selector, podLabels } = jobSelector(name);
  const template = isObject(spec.template) ? spec.template : {};
  const templateLabels = member(template, "metadata", "labels");
  const defaulted = {
    ...spec,
    parallelism: count("parallelism", 0, MAX_INT32, 1),
    completions,
    completionMode: mode,
    backoffLimit: count("backoffLimit", 0, MAX_INT32, backoffLimitPerIndex === undefined ? 6 : MAX_INT32),
    backoffLimitPerIndex,
    maxFailedIndexes: count("maxFailedIndexes", 0, MAX_COMPLETIONS, undefined),
    podFailurePolicy,
    podReplacementPolicy: podFailurePolicy ? "Failed" : spec.podReplacementPolicy ?? "TerminatingOrFailed",
    ttlSecondsAfterFinished: count("ttlSecondsAfterFinished", 0, MAX_INT32, undefined),
    suspend,
    selector,
    template: {
      ...template,
      metadata: {
        ...isObject(template.metadata) ? template.metadata : {},
        labels: { ...isObject(templateLabels) ? templateLabels : {}, ...podLabels },
      },
      spec: readPodSpec(template.spec, isCampaign, reject),
    },
  };
  // Every member that the controller and the workers read was checked above.
  return { apiVersion: "batch/v1", kind: "Job", metadata, spec: defaulted as unknown as JobSpec, status: {} };
}

type Reject = (field: string, why: string) => Error;

const NOT_OFFERED = "is not offered by this cluster";

function readFailurePolicy(given: unknown, reject: Reject): JobSpec["podFailurePolicy"] {
  if (given === undefined || given === null) return undefined;
  const field = "spec.podFailurePolicy.rules";
  const rules = entries(member(given, "rules")).map((rule) => {
    const action = stringAt(rule, "action");
    if (action !== "Ignore" && action !== "FailIndex") {
      throw reject(field, `of actions, Ignore and FailIndex are offered`);
    }
    const codes = member(rule, "onExitCodes");
    const conditions = entries(member(rule, "onPodConditions"));
    if (codes !== undefined) {
      const values = entries(member(codes, "values")).filter((value) => typeof value === "number");
      const containerName = stringAt(codes, "containerName");
      if (stringAt(codes, "operator") !== "In" || containerName === null || values.length === 0) {
        throw reject(field, "onExitCodes: the operator In, a containerName and values are required");
      }
      return { action, onExitCodes: { containerName, operator: "In" as const, values } } as const;
    }
    const onPodConditions = conditions.map((condition) => {
      return { type: stringAt(condition, "type") ?? "", status: stringAt(condition, "status") ?? "True" };
    });
    return { action, onPodConditions } as const;
  });
  return { rules };
}

function readPodSpec(given: unknown, isCampaign: boolean, reject: Reject): JsonObject {
  const at = "spec.template.spec";
  const spec = isObject(given) ? given : {};
  if (spec.restartPolicy !== "Never") throw reject(`${at}.restartPolicy`, "must be Never here");
  const main = isCampaign ? "wrapper" : "warmup";
  const containers = entries(spec.containers);
  if (stringAt(containers[0], "name") !== main) throw reject(`${at}.containers[0].name`, `must be ${main} here`);
  const gates = entries(spec.initContainers);
  if (gates.length > 1 || gates.some((gate) => stringAt(gate, "name") !== GATE)) {
    throw reject(`${at}.initContainers`, `${GATE} is the only one that is offered by this cluster`);
  }
  const { volumes = null } = spec;
  if (volumes !== null && !(Array.isArray(volumes) && volumes.every(isVolume))) {
    throw reject(`${at}.volumes`, "must be a list of objects, each configMap of which has a name");
  }
  const hasMap = entries(volumes).some((volume) => {
    return stringAt(volume, "name") === "campaign" && stringAt(volume, "configMap", "name") !== null;
  });
  if (isCampaign && !hasMap) {
    throw reject(`${at}.volumes`, "the volume `campaign` must name a ConfigMap with volumes.txt");
  }
  const deadline = spec.activeDeadlineSeconds;
  if (deadline !== undefined && !(Number.isInteger(deadline) && Number(deadline) > 0)) {
    throw reject(`${at}.activeDeadlineSeconds`, "must be a number of seconds");
  }
  const grace = spec.terminationGracePeriodSeconds ?? DEFAULT_GRACE_SECONDS;
  if (!Number.isInteger(grace) || Number(grace) < 0) {
    throw reject(`${at}.terminationGracePeriodSeconds`, "must be a number of seconds");
  }
  return {
    ...spec,
    terminationGracePeriodSeconds: grace,
    containers: containers.map((container) => withMessagePath(container, `${at}.containers`, reject)),
    ...(gates.length > 0 && {
      initContainers: gates.map((container) => withMessagePath(container, `${at}.initContainers`, reject)),
    }),
  };
}

function isVolume(volume: unknown): boolean {
  if (!isObject(volume)) return false;
  const { configMap = null } = volume;
  return configMap === null || stringAt(configMap, "name") !== null;
}

const GATE = "warmup-wait";
const DEFAULT_GRACE_SECONDS = 30;

function withMessagePath(container: unknown, field: string, reject: Reject): JsonObject {
  if (!isObject(container) || stringAt(container, "name") === null || !stringAt(container, "image")) {
    throw reject(field, "each has a name and an image");
  }
  return { terminationMessagePath: "/dev/termination-log", terminationMessagePolicy: "File", ...container };
}
