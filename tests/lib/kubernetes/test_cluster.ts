import { type FaultyCluster, JOBS, MAPS, PODS } from "./faulty_cluster.ts";
import {
  condition,
  conventions,
  jobObject,
  names,
  podObject,
} from "@/tests/lib/campaigns/projection/cluster_fixtures.ts";
import { removeAtEnd } from "@/tests/remove_at_end.ts";

const VOLUMES = "a\thttps://archive.example.org/a\nb\timages:https://x/1 https://x/2\nc\nd\n";

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

interface KubeconfigParts {
  readonly cluster: Readonly<Record<string, unknown>>;
  readonly user?: Readonly<Record<string, unknown>>;
}

/** A kubeconfig of one cluster and one user. */
export function kubeconfig({ cluster, user = {} }: KubeconfigParts): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster }],
    users: [{ name: "u", user }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  });
}

/** Runs with a file of that text in a folder of its own. */
export async function withFile(text: string, use: (path: string) => Promise<void> | void): Promise<void> {
  const folder = await Deno.makeTempDir();
  using _removal = removeAtEnd(folder);
  await Deno.writeTextFile(`${folder}/config`, text);
  await use(`${folder}/config`);
}
