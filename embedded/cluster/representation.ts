import { ApiError } from "./api_status.ts";
import { apiVersionOf, RESOURCES } from "./discovery.ts";
import { condition, isTerminating, type Job, type KubeObject, type Plural, type Pod } from "./kube_objects.ts";

/** The forms of a response. */
export type Form = "object" | "table" | "metadata";

/**
 * The first form of an `Accept` header that this API has: plain JSON, a `Table`, or metadata only (`PartialObjectMetadataList` for
 * lists, `PartialObjectMetadata` for one object). Throws a 406 for any other, and for the form of the other kind of request.
 */
export function acceptedForm(accept: string | null, isList: boolean): Form {
  for (const range of (accept ?? "*/*").split(",")) {
    const [type, ...parameters] = range.split(";").map((part) => part.trim());
    if (!["application/json", "application/*", "*/*"].includes(type.toLowerCase())) continue;
    const named = new URLSearchParams(parameters.join("&"));
    const as = named.get("as");
    if (as === null) return "object";
    if (named.get("g") !== "meta.k8s.io" || named.get("v") !== "v1") continue;
    if (as === "Table") return "table";
    if (as === (isList ? "PartialObjectMetadataList" : "PartialObjectMetadata")) return "metadata";
  }
  const message = "only the following media types are accepted: application/json, with as=Table or metadata only";
  throw new ApiError(406, "NotAcceptable", message);
}

/** How a response shows objects of one kind. */
interface Representation {
  readonly form: Form;
  readonly plural: Plural;
  readonly query: URLSearchParams;
  /** Milliseconds since 1970, for ages in tables. */
  readonly now: number;
}

/** One object in a form. */
export function representObject(as: Representation, object: KubeObject) {
  if (as.form === "object") return object;
  if (as.form === "metadata") return metadataOnly(object);
  return tableOf(as, [object], { resourceVersion: object.metadata.resourceVersion });
}

/** A list in a form; `metadata` is the list's own: its version, and where it continues. */
export function representList(
  as: Representation,
  objects: readonly KubeObject[],
  metadata: Readonly<Record<string, unknown>>,
) {
  if (as.form === "table") return tableOf(as, objects, metadata);
  if (as.form === "metadata") {
    const items = objects.map(metadataOnly);
    return { kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1", metadata, items };
  }
  const resource = RESOURCES[as.plural];
  // The items of a typed list carry neither kind nor apiVersion.
  const items = objects.map(({ kind: _kind, apiVersion: _apiVersion, ...item }) => item);
  return { kind: `${resource.kind}List`, apiVersion: apiVersionOf(resource), metadata, items };
}

/** The object of a bookmark event: only the version that the watch has reached. */
export function representBookmark(form: Form, plural: Plural, version: number) {
  const metadata = { resourceVersion: String(version), creationTimestamp: null };
  if (form === "table") return { kind: "Table", apiVersion: "meta.k8s.io/v1", metadata, rows: [] };
  if (form === "metadata") return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata };
  const resource = RESOURCES[plural];
  return { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata };
}

/** The metadata-only form of an object. */
function metadataOnly(object: KubeObject) {
  return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata };
}

/** Objects as the rows that `kubectl get` prints ("Receiving resources as Tables" of the Kubernetes API). */
function tableOf(
  { plural, query, now }: Representation,
  objects: readonly KubeObject[],
  metadata: Readonly<Record<string, unknown>>,
) {
  const includeObject = query.get("includeObject");
  const included = (object: KubeObject) => {
    if (includeObject === "None") return undefined;
    if (includeObject === "Object") return object;
    return metadataOnly(object);
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
      return [name, String(Object.keys(object.data ?? {}).length), age];
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
  const { startTime, completionTime, succeeded = 0 } = job.status;
  const status = ["Complete", "Failed", "Suspended", "FailureTarget"].find((type) => condition(job, type)) ?? "Running";
  const end = completionTime ?? condition(job, "Failed")?.lastTransitionTime;
  const duration = startTime ? span((end ? Date.parse(end) : now) - Date.parse(startTime)) : "";
  return [status, `${succeeded}/${job.spec.completions}`, duration];
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
