import { type ClusterConventions, labelKeys } from "./conventions.ts";
import { newestByIndex } from "./job_controller.ts";
import { condition, endedAt, readIndexes } from "./job_status.ts";
import type { ConfigMap, Job, ManagedFields, NewMeta, Pod } from "./objects.ts";
import { timestamp } from "./objects.ts";
import { failedOf } from "./pod_status.ts";
import type { SampleCampaign } from "./samples.ts";

/**
 * What the tool that submits campaigns records of a Job that has ended; with `failures`, also what a reader of its pods would have
 * added while they were there.
 */
export function endingRecord(
  job: Job,
  campaign: SampleCampaign,
  conventions: ClusterConventions,
  resultsUrl: string,
  failures: readonly Pod[] | null,
): Omit<ConfigMap, "metadata"> & { metadata: NewMeta } {
  const keys = labelKeys(conventions);
  const { namespace = "", uid } = job.metadata;
  const done = readIndexes(job.status.completedIndexes).size;
  const phase = condition(job, "Complete") ? "Succeeded" : done > 0 ? "PartiallyFailed" : "Failed";
  const ended = endedAt(job) ?? 0;
  const summary = {
    phase,
    volumesTotal: String(job.spec.completions),
    volumesDone: String(done),
    volumesFailed: String(job.spec.completions - done),
    startedAt: job.status.startTime ?? "",
    finishedAt: timestamp(ended),
    resultsBase: `${resultsUrl}/${namespace}/${campaign.pipeline.id}`,
    jobUid: uid,
  };
  const named = failures && {
    failedVolumes: JSON.stringify(namedFailures(failures, campaign)),
    failedVolumesJobUid: uid,
  };
  const managedFields = [owner(conventions.applyManager, summary, ended)];
  if (named) managedFields.push(owner(conventions.failuresManager, named, ended));
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      name: `campaign-${job.metadata.name}-status`,
      namespace,
      labels: {
        [keys.managedBy]: conventions.managedBy,
        [keys.campaign]: campaign.name,
        [keys.pipeline]: campaign.pipeline.id,
        [keys.kind]: "status",
      },
      managedFields,
    },
    data: { ...summary, ...named },
  };
}

function namedFailures(pods: readonly Pod[], campaign: SampleCampaign): { id: string; reason: string }[] {
  return [...newestByIndex(pods)].filter(([, pod]) => pod.status.phase === "Failed").map(([index, pod]) => {
    const message = failedOf(pod)[0]?.message ?? pod.status.reason ?? "";
    return { id: campaign.volumes[index].id, reason: sentence(message) };
  });
}

/** The `error` of a worker's message, or the message itself. */
function sentence(message: string): string {
  try {
    const content: unknown = JSON.parse(message);
    if (typeof content === "object" && content !== null && "error" in content) return String(content.error);
  } catch {
    // Plain text says it as it is.
  }
  return message;
}

function owner(manager: string, data: Readonly<Record<string, string>>, at: number): ManagedFields {
  const fields = Object.fromEntries(Object.keys(data).map((key) => [`f:${key}`, {}]));
  return {
    manager,
    operation: "Apply",
    apiVersion: "v1",
    time: timestamp(at),
    fieldsType: "FieldsV1",
    fieldsV1: { "f:data": fields },
  };
}
