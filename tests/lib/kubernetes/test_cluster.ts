import {
  condition,
  conventions,
  jobObject,
  names,
  podObject,
} from "@/tests/lib/campaigns/projection/cluster_fixtures.ts";
import { type FaultyCluster, JOBS, MAPS, PODS } from "@/tests/embedded/cluster/faulty_cluster.ts";

export const VOLUMES = "a\thttps://archive.example.org/a\nb\timages:https://x/1 https://x/2\nc\nd\n";

function configMap(name: string, labels: object, data: object) {
  const creationTimestamp = "2025-11-20T08:00:00Z";
  const all = { [names.managedBy]: "converter", ...labels };
  return { metadata: { namespace: "batch-default", name, uid: `uid-${name}`, creationTimestamp, labels: all }, data };
}

export function recordMap(name: string, volumes = VOLUMES) {
  const labels = { [names.campaign]: `${name}-file`, [names.pipeline]: "lion-v2" };
  return configMap(`campaign-${name}`, labels, { "volumes.txt": volumes });
}

export function statusMap(name: string, data: object = {}) {
  const labels = { [names.campaign]: `${name}-file`, [names.pipeline]: "lion-v2", [names.kind]: "status" };
  return configMap(`campaign-${name}-status`, labels, {
    phase: "PartiallyFailed",
    volumesTotal: "4",
    volumesDone: "3",
    volumesFailed: "1",
    finishedAt: "2025-11-20T10:00:00Z",
    failedVolumes: '[{"id":"b","reason":"torn"}]',
    ...data,
  });
}

export function pipelineMap(id: string, yaml: string) {
  return configMap(`${conventions.pipelinePrefix}${id}`, { [names.pipeline]: id }, { "pipeline.yaml": yaml });
}

/** Two live campaigns, one of them with pods, a failed warm-up, a reaped campaign, and objects of other programs. */
export function testCluster(api: FaultyCluster): void {
  const visby = [{ name: "campaign", configMap: { name: "campaign-visby" } }];
  api.put(JOBS, jobObject({ status: { completedIndexes: "0", failedIndexes: "3", active: 1 } }));
  api.put(JOBS, jobObject({ metadata: { name: "visby" }, spec: { template: { spec: { volumes: visby } } } }));
  api.put(JOBS, {
    ...jobObject({ metadata: { name: "warm" }, labels: { app: conventions.warmupApp, [names.campaign]: undefined } }),
    status: { conditions: [condition("Failed", "2025-11-20T09:00:00Z")] },
  });
  api.put(JOBS, jobObject({ metadata: { name: "foreign" }, labels: { app: "other" } }));
  api.put(PODS, podObject("1"));
  api.put(PODS, podObject("2", { phase: "Succeeded" }));
  for (const name of ["lund", "visby", "reaped"]) api.put(MAPS, recordMap(name));
  for (const name of ["visby", "reaped"]) api.put(MAPS, statusMap(name));
  api.put(MAPS, pipelineMap("lion-v2", "steps: [{step: Segment}, {step: QualityPrediction}]"));
  api.put(MAPS, pipelineMap("plain", "steps: []"));
  api.put(MAPS, configMap("foreign", {}, { "volumes.txt": "x" }));
}
