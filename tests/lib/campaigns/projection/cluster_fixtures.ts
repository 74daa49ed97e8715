import { type BatchJob, type BatchPod, readJob, readPod } from "@/lib/campaigns/projection/cluster_objects.ts";
import { CONVENTIONS, labelNames } from "@/lib/campaigns/projection/conventions.ts";
import type { StoredProgress } from "@/lib/campaigns/projection/types.ts";
import { volumeLinks } from "@/lib/campaigns/projection/urls.ts";

export const conventions = CONVENTIONS.stackroom;
export const names = labelNames(conventions);

/** A Job of the Kubernetes API, as campaigns have it; members given here replace the usual ones. */
export function jobObject(
  parts: { metadata?: object; labels?: object; spec?: object; status?: object } = {},
): Record<string, unknown> {
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: {
      namespace: "batch-default",
      name: "lund",
      uid: "uid-1",
      creationTimestamp: "2025-11-20T08:00:00Z",
      labels: {
        app: conventions.campaignApp,
        [names.managedBy]: conventions.managedBy,
        [names.campaign]: "lund-file",
        [names.pipeline]: "lion-v2",
        ...parts.labels,
      },
      ...parts.metadata,
    },
    spec: {
      completions: 4,
      completionMode: "Indexed",
      template: {
        spec: {
          volumes: [
            { name: "cache", emptyDir: {} },
            { name: "campaign", configMap: { name: "campaign-lund" } },
            { name: "pipeline", configMap: { name: "pipeline-lion-v2" } },
          ],
        },
      },
      ...parts.spec,
    },
    status: { startTime: "2025-11-20T08:01:00Z", ...parts.status },
  };
}

export function job(parts: Parameters<typeof jobObject>[0] = {}): BatchJob {
  const read = readJob(jobObject(parts), conventions);
  if (!read) throw new Error("the fixture is no Job");
  return read;
}

export function warmupJob(parts: Parameters<typeof jobObject>[0] = {}): BatchJob {
  return job({ ...parts, labels: { app: conventions.warmupApp, [names.campaign]: "", ...parts.labels } });
}

/** A condition that holds. */
export function condition(type: string, lastTransitionTime: string, status = "True") {
  return { type, status, lastTransitionTime, reason: `${type}Reason`, message: "" };
}

export function terminated(name: string, end: object): object {
  return { name, ready: false, state: { terminated: end } };
}

export function podObject(
  index: string | null,
  status: object = {},
  metadata: { name?: string; creationTimestamp?: string; deletionTimestamp?: string } = {},
): Record<string, unknown> {
  const labels: Record<string, string> = { "batch.kubernetes.io/job-name": "lund" };
  if (index !== null) labels["batch.kubernetes.io/job-completion-index"] = index;
  return {
    metadata: {
      namespace: "batch-default",
      name: `lund-${index}-abcde`,
      creationTimestamp: "2025-11-20T08:02:00Z",
      labels,
      ...metadata,
    },
    spec: { nodeName: "node-1", containers: [{ name: "wrapper", image: "example" }] },
    status: { phase: "Running", ...status },
  };
}

export function pod(...parts: Parameters<typeof podObject>): BatchPod {
  const read = readPod(podObject(...parts));
  if (!read) throw new Error("the fixture is no pod");
  return read;
}

const linksOf = volumeLinks("https://r", "ns", "p");

export function counted(id: string) {
  return { id, links: linksOf(id) };
}

export function progress(parts: Partial<StoredProgress> = {}): StoredProgress {
  return {
    done: 1,
    total: 2,
    failed: 0,
    lastPage: null,
    stage: "stream",
    updatedAt: null,
    lastError: null,
    errors: 0,
    viewerPublished: false,
    quality: null,
    ...parts,
  };
}
