import type { Job, KubeObject, Plural, Pod } from "./objects.ts";
import { isTerminating } from "./pod_status.ts";

/** Objects as the rows that `kubectl get` prints ("Receiving resources as Tables" of the Kubernetes API). */
export function tableOf(
  plural: Plural,
  objects: readonly KubeObject[],
  metadata: Readonly<Record<string, unknown>>,
  includeObject: string | null,
  now: number,
) {
  const included = (object: KubeObject) => {
    if (includeObject === "None") return undefined;
    if (includeObject === "Object") return object;
    return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata };
  };
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata,
    columnDefinitions: COLUMNS[plural].map((name, index) => ({
      name,
      type: "string",
      format: index === 0 ? "name" : "",
      description: name,
      priority: 0,
    })),
    rows: objects.map((object) => ({ cells: cellsOf(object, now), object: included(object) })),
  };
}

const COLUMNS: Readonly<Record<Plural, readonly string[]>> = {
  configmaps: ["Name", "Data", "Age"],
  namespaces: ["Name", "Status", "Age"],
  pods: ["Name", "Ready", "Status", "Restarts", "Age"],
  jobs: ["Name", "Status", "Completions", "Duration", "Age"],
};

function cellsOf(object: KubeObject, now: number): unknown[] {
  const { name, creationTimestamp } = object.metadata;
  const age = span(now - Date.parse(creationTimestamp));
  switch (object.kind) {
    case "ConfigMap":
      return [name, String(count(object.data) + count(object.binaryData)), age];
    case "Namespace":
      return [name, object.status.phase, age];
    case "Pod":
      return [name, ...podCells(object), age];
    case "Job":
      return [name, ...jobCells(object, now), age];
  }
}

function podCells(pod: Pod): string[] {
  const containers = pod.status.containerStatuses ?? [];
  const ready = containers.filter((container) => container.ready).length;
  const ended = containers.find((container) => container.state.terminated)?.state.terminated;
  const waiting = pod.status.phase === "Pending" && (pod.status.initContainerStatuses ?? [])
    .some((container) => container.state.running);
  const initialising = waiting ? `Init:0/${pod.spec.initContainers?.length ?? 0}` : undefined;
  const leaving = isTerminating(pod) ? "Terminating" : undefined;
  const status = leaving ?? pod.status.reason ?? ended?.reason ?? initialising ?? pod.status.phase;
  return [`${ready}/${pod.spec.containers.length}`, status, "0"];
}

function jobCells(job: Job, now: number): string[] {
  const { conditions = [], startTime, completionTime, succeeded = 0 } = job.status;
  const holding = (type: string) => conditions.find((one) => one.type === type && one.status === "True");
  const status = ["Complete", "Failed", "Suspended", "FailureTarget"].find(holding) ?? "Running";
  const end = completionTime ?? holding("Failed")?.lastTransitionTime;
  const duration = startTime ? span((end ? Date.parse(end) : now) - Date.parse(startTime)) : "";
  return [status, `${succeeded}/${job.spec.completions}`, duration];
}

function count(record: Readonly<Record<string, string>> | undefined): number {
  return Object.keys(record ?? {}).length;
}

/** A duration in milliseconds in the short form of `kubectl`: `45s`, `5m12s`, `3h20m`, `8d`. */
function span(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return minutes % 60 === 0 ? `${hours}h` : `${hours}h${minutes % 60}m`;
  if (hours < 48) return `${hours}h`;
  return `${Math.floor(hours / 24)}d`;
}
