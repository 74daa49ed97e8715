import { createHash } from "node:crypto";
import { pageImageUrl, sourceManifestUrl } from "@/embedded/archive/catalogue.ts";
import { parsedJson, stringAt } from "@/lib/std/untrusted.ts";
import { newestByIndex } from "./job_controller.ts";
import type { JsonObject } from "./json_body.ts";
import {
  condition,
  endedAt,
  failedOf,
  type Job,
  type NewMeta,
  type Pod,
  readIndexes,
  timestamp,
} from "./kube_objects.ts";
import type { ConfigMapContent } from "./object_body.ts";
import { type Pipeline, pipelineDigest, type SampleCampaign } from "./sample_campaigns.ts";

/** How long a pod waits for its warm-up before it fails, in seconds of work. */
export const GATE_SECONDS = 1800;
/** Exit code of a failure that a retry cannot repair. */
export const PERMANENT_EXIT = 13;

/** The digest of the image that workers claim to run. */
export const WORKER_DIGEST = `sha256:${"5a".repeat(32)}`;
const WORKER_IMAGE = `registry.example/campaign-worker@${WORKER_DIGEST}`;

/** Where the submitted objects point to and how they are labelled. */
export interface Submission {
  readonly namespace: string;
  readonly conventions: ClusterConventions;
  readonly archiveUrl: string;
}

/** The Job of a campaign as its tool submits it, suspended for the queue. */
export function campaignJob(campaign: SampleCampaign, { conventions }: Submission): JsonObject {
  const labels = {
    app: conventions.campaignApp,
    ...labelsOf(conventions, campaign.pipeline, campaign),
    "kueue.x-k8s.io/queue-name": "campaigns",
  };
  const count = campaign.volumes.length;
  const spec = {
    activeDeadlineSeconds: campaign.deadlineSeconds,
    terminationGracePeriodSeconds: 120,
    // The message of the gate, a shell loop, is the last line of its log; workers write theirs.
    initContainers: [
      { ...container("warmup-wait", campaign.pipeline), terminationMessagePolicy: "FallbackToLogsOnError" },
    ],
    containers: [container("wrapper", campaign.pipeline)],
    volumes: [
      { name: "campaign", configMap: { name: `campaign-${campaign.name}` } },
      { name: "pipeline", configMap: { name: `${conventions.pipelinePrefix}${campaign.pipeline.id}` } },
      { name: "data", persistentVolumeClaim: { claimName: "campaign-data" } },
    ],
  };
  const permanent = (containerName: string) => {
    return { action: "FailIndex", onExitCodes: { containerName, operator: "In", values: [PERMANENT_EXIT] } };
  };
  const rules = [
    { action: "Ignore", onPodConditions: [{ type: "DisruptionTarget", status: "True" }] },
    permanent("wrapper"),
    permanent("warmup-wait"),
  ];
  const annotations = { "argocd.argoproj.io/hook": "Skip" };
  return job({ name: campaign.name, labels, annotations }, spec, {
    parallelism: Math.min(campaign.parallelism, count),
    completions: count,
    completionMode: "Indexed",
    backoffLimitPerIndex: 3,
    maxFailedIndexes: count,
    podFailurePolicy: { rules },
    ttlSecondsAfterFinished: campaign.ttlSeconds,
    suspend: true,
  });
}

/** The Job that loads a pipeline's models before its campaigns start. */
export function warmupJob(pipeline: Pipeline, { conventions }: Submission): JsonObject {
  const labels = { app: conventions.warmupApp, ...labelsOf(conventions, pipeline) };
  const spec = {
    containers: [container("warmup", pipeline)],
    volumes: [{ name: "pipeline", configMap: { name: `${conventions.pipelinePrefix}${pipeline.id}` } }],
  };
  return job({ name: `warmup-${pipeline.id}`, labels }, spec, { backoffLimit: 0 });
}

function job(metadata: Omit<NewMeta, "namespace">, pod: JsonObject, spec: JsonObject): JsonObject {
  const template = { metadata: { labels: metadata.labels }, spec: { restartPolicy: "Never", ...pod } };
  return { metadata, spec: { ...spec, template } };
}

function container(name: string, pipeline: Pipeline) {
  return { name, image: WORKER_IMAGE, env: [{ name: "PIPELINE", value: pipeline.id }] };
}

/** The ConfigMap with a campaign's volumes.txt: one line `<id> TAB <source>` per volume, in the order of the indexes. */
export function campaignConfigMap(campaign: SampleCampaign, submission: Submission, jobUid: string, time: string) {
  const { namespace, conventions, archiveUrl } = submission;
  const lines = campaign.volumes.map((volume) => {
    const images = () =>
      Array.from({ length: volume.pages }, (_, index) => pageImageUrl(archiveUrl, volume.id, index + 1));
    const source = volume.byImages ? `images:${images().join(" ")}` : sourceManifestUrl(archiveUrl, volume.id);
    return `${volume.id}\t${source}\n`;
  });
  const metadata: NewMeta = {
    name: `campaign-${campaign.name}`,
    namespace,
    labels: labelsOf(conventions, campaign.pipeline, campaign),
    annotations: {
      [`${conventions.labelDomain}image-digest`]: WORKER_DIGEST,
      [`${conventions.labelDomain}campaigns-commit`]: createHash("sha1").update(lines.join("")).digest("hex"),
      [`${conventions.labelDomain}applied-by`]: "curator",
      [`${conventions.labelDomain}applied-at`]: time,
      [`${conventions.labelDomain}job-uid`]: jobUid,
    },
  };
  return configMap(metadata, { "volumes.txt": lines.join("") });
}

/** The ConfigMap with a pipeline's steps. */
export function pipelineConfigMap(pipeline: Pipeline, { namespace, conventions }: Submission) {
  const metadata: NewMeta = {
    name: `${conventions.pipelinePrefix}${pipeline.id}`,
    namespace,
    labels: labelsOf(conventions, pipeline),
    annotations: { [`${conventions.labelDomain}pipeline-sha256`]: pipelineDigest(pipeline) },
  };
  return configMap(metadata, { "pipeline.yaml": pipeline.document });
}

/** The names by which campaign objects are recognised; the same as those of the site. */
export interface ClusterConventions {
  /** Prefix of our labels and annotations, with its slash, such as `campaigns.example.org/`. */
  readonly labelDomain: string;
  /** `app` label of campaign Jobs and of warm-up Jobs. */
  readonly campaignApp: string;
  readonly warmupApp: string;
  /** Value of the `<domain>managed-by` label. */
  readonly managedBy: string;
  /** Prefix of the names of pipeline ConfigMaps. */
  readonly pipelinePrefix: string;
  /** Field managers that own parts of a status record. */
  readonly failuresManager: string;
  readonly applyManager: string;
}

/** The label keys in use under a set of conventions. */
export function labelKeys({ labelDomain }: ClusterConventions) {
  return {
    managedBy: `${labelDomain}managed-by`,
    campaign: `${labelDomain}campaign`,
    pipeline: `${labelDomain}pipeline`,
    kind: `${labelDomain}kind`,
  } as const;
}

/** The labels of an object of a pipeline, and of a campaign where one is named. */
function labelsOf(conventions: ClusterConventions, pipeline: Pipeline, campaign?: SampleCampaign) {
  const keys = labelKeys(conventions);
  return {
    [keys.managedBy]: conventions.managedBy,
    ...(campaign && { [keys.campaign]: campaign.name }),
    [keys.pipeline]: pipeline.id,
  };
}

function configMap(metadata: NewMeta, data: Readonly<Record<string, string>>): ConfigMapContent {
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data };
}

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

function statusRecord(
  job: Job,
  data: Readonly<Record<string, string>>,
  labels?: Readonly<Record<string, string>>,
): ConfigMapContent {
  const { name, namespace } = job.metadata;
  return configMap({ name: `campaign-${name}-status`, namespace, labels }, data);
}

function namedFailures(pods: readonly Pod[], campaign: SampleCampaign): { id: string; reason: string }[] {
  return [...newestByIndex(pods)].filter(([, pod]) => pod.status.phase === "Failed").map(([index, pod]) => {
    const message = failedOf(pod)[0]?.message ?? pod.status.reason ?? "";
    // The `error` of a worker's message, or the message itself.
    return { id: campaign.volumes[index].id, reason: stringAt(parsedJson(message), "error") ?? message };
  });
}
