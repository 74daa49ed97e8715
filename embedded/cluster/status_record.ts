import { parsedJson, stringAt } from "@/lib/std/untrusted.ts";
import { type ClusterConventions, labelKeys, labelsOf } from "./campaign_objects.ts";
import type { ConfigMapContent } from "./config_map_body.ts";
import { newestByIndex } from "./job_controller.ts";
import { condition, endedAt, readIndexes } from "./job_status.ts";
import { type ConfigMap, type Job, type Pod, timestamp } from "./objects.ts";
import { failedOf } from "./pod_status.ts";
import type { SampleCampaign } from "./samples.ts";

/** The summary that the submission tool records of an ended Job. */
export function endingRecord(
  job: Job,
  campaign: SampleCampaign,
  conventions: ClusterConventions,
  resultsUrl: string,
): ConfigMapContent {
  const { namespace = "", uid } = job.metadata;
  const done = readIndexes(job.status.completedIndexes).size;
  const labels = { ...labelsOf(conventions, campaign.pipeline, campaign), [labelKeys(conventions).kind]: "status" };
  return statusRecord(job, {
    phase: condition(job, "Complete") ? "Succeeded" : done > 0 ? "PartiallyFailed" : "Failed",
    volumesTotal: String(job.spec.completions),
    volumesDone: String(done),
    volumesFailed: String(job.spec.completions - done),
    startedAt: job.status.startTime ?? "",
    finishedAt: timestamp(endedAt(job) ?? 0),
    resultsBase: `${resultsUrl}/${namespace}/${campaign.pipeline.id}`,
    jobUid: uid,
  }, labels);
}

/** The failures that a site would have recorded while the pods existed. */
export function failuresRecord(job: Job, campaign: SampleCampaign, pods: readonly Pod[]): ConfigMapContent {
  return statusRecord(job, {
    failedVolumes: JSON.stringify(namedFailures(pods, campaign)),
    failedVolumesJobUid: job.metadata.uid,
  });
}

function statusRecord(job: Job, data: ConfigMap["data"], labels?: Readonly<Record<string, string>>): ConfigMapContent {
  const { name, namespace } = job.metadata;
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: `campaign-${name}-status`, namespace, labels },
    data,
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
  return stringAt(parsedJson(message), "error") ?? message;
}
