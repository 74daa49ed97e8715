import { alreadyExists, badRequest, conflict, invalid, methodNotAllowed, notFound } from "./api_status.ts";
import { isObject, isStringRecord, type JsonObject, sameJson } from "./json_body.ts";
import { type ConfigMap, type Job, type KubeObject, type NewMeta, timestamp } from "./objects.ts";
import { apiVersionOf, type Resource } from "./resources.ts";
import type { ClusterStore } from "./store.ts";

/** The data of a ConfigMap may have this many bytes in all (Kubernetes, "ConfigMaps"). */
const MAX_CONFIG_MAP_BYTES = 1024 * 1024;

/** Makes a ConfigMap of a request's body. Throws 400, 404, 409 or 422. With `dryRun` nothing is stored. */
export function createConfigMap(
  store: ClusterStore,
  resource: Resource,
  namespace: string,
  body: JsonObject,
  dryRun: boolean,
): KubeObject {
  const metadata = isObject(body.metadata) ? body.metadata : {};
  const name = typeof metadata.name === "string" ? metadata.name : "";
  if (name === "") throw invalid(resource, name, "metadata.name", "a name is required");
  const content = configMapContent(resource, namespace, name, body);
  if (store.get("configmaps", namespace, name)) throw alreadyExists(resource, name);
  if (!dryRun) return store.create("configmaps", content);
  const unstored = { uid: "", resourceVersion: "", creationTimestamp: timestamp(store.now()) };
  return { ...content, metadata: { ...content.metadata, ...unstored } };
}

/**
 * Replaces an object by what a PUT or a patch made of it. ConfigMaps change freely; of a Job only `suspend`, `parallelism`,
 * `ttlSecondsAfterFinished`, labels and annotations do, as its controller here obeys no other. Throws 400, 409 or 422.
 */
export function replaceObject(
  store: ClusterStore,
  resource: Resource,
  current: KubeObject,
  body: JsonObject,
  dryRun: boolean,
): KubeObject {
  const { namespace = "", name } = current.metadata;
  checkVersions(resource, current, body);
  if (current.kind === "ConfigMap") {
    const content = configMapContent(resource, namespace, name, body);
    if (current.immutable && !sameJson([content.data, content.binaryData], [current.data, current.binaryData])) {
      throw invalid(resource, name, "data", "field is immutable when `immutable` is set");
    }
    const next: ConfigMap = { ...content, metadata: { ...current.metadata, ...content.metadata } };
    return keep(next, current);
  }
  if (current.kind === "Job") return keep(changedJob(resource, current, body), current);
  throw methodNotAllowed(`changing ${resource.plural}`);

  // An unchanged object keeps its version, as in the real store.
  function keep(next: ConfigMap | Job, before: ConfigMap | Job) {
    if (dryRun || sameJson(next, before)) return next;
    return next.kind === "ConfigMap" ? store.replace("configmaps", next) : store.replace("jobs", next);
  }
}

/** Deletes an object after checking the preconditions of `DeleteOptions`; a Job's pods go too unless they are orphaned. */
export function deleteObject(
  store: ClusterStore,
  resource: Resource,
  current: KubeObject,
  options: JsonObject,
  propagation: string | null,
  dryRun: boolean,
): void {
  const { namespace = "", name, uid, resourceVersion } = current.metadata;
  const wanted = isObject(options.preconditions) ? options.preconditions : {};
  if (wanted.uid !== undefined && wanted.uid !== uid) {
    throw conflict(resource, name, "the UID in the precondition does not match the UID in record");
  }
  if (wanted.resourceVersion !== undefined && wanted.resourceVersion !== resourceVersion) {
    throw conflict(resource, name, "the ResourceVersion in the precondition does not match the one in record");
  }
  const policy = options.propagationPolicy ?? propagation ?? "Background";
  if (policy !== "Background" && policy !== "Foreground") {
    throw badRequest("propagationPolicy: only Background and Foreground are offered");
  }
  if (dryRun) return;
  store.delete(resource.plural, namespace, name);
  for (const pod of store.list("pods", namespace)) {
    if (pod.metadata.ownerReferences?.some((owner) => owner.uid === uid)) {
      store.delete("pods", namespace, pod.metadata.name);
    }
  }
}

/** The object of a name, or a 404. */
export function existing(store: ClusterStore, resource: Resource, namespace: string, name: string): KubeObject {
  const object = store.get(resource.plural, namespace, name);
  if (!object) throw notFound(resource, name);
  return object;
}

function checkVersions(resource: Resource, current: KubeObject, body: JsonObject): void {
  const metadata = isObject(body.metadata) ? body.metadata : {};
  const { name, uid, resourceVersion } = current.metadata;
  if (metadata.name !== undefined && metadata.name !== name) {
    throw badRequest("the name of the object does not match the name on the URL");
  }
  if (metadata.uid !== undefined && metadata.uid !== uid) {
    throw conflict(resource, name, "the UID in the request does not match the UID in record");
  }
  if (metadata.resourceVersion !== undefined && metadata.resourceVersion !== resourceVersion) {
    throw conflict(resource, name, "the object has been modified; please apply your changes to the latest version");
  }
}

function configMapContent(resource: Resource, namespace: string, name: string, body: JsonObject) {
  if (body.kind !== undefined && body.kind !== resource.kind) throw badRequest(`kind: not ${resource.kind}`);
  if (body.apiVersion !== undefined && body.apiVersion !== apiVersionOf(resource)) {
    throw badRequest(`apiVersion: not ${apiVersionOf(resource)}`);
  }
  const metadata = newMeta(resource, namespace, name, body);
  const data = body.data ?? undefined;
  const binaryData = body.binaryData ?? undefined;
  const parts = [["data", data], ["binaryData", binaryData]] as const;
  let bytes = 0;
  for (const [field, part] of parts) {
    if (part === undefined) continue;
    if (!isStringRecord(part)) throw badRequest(`${field}: not an object of strings`);
    for (const [key, value] of Object.entries(part)) {
      if (!/^[-._a-zA-Z0-9]{1,253}$/.test(key)) throw invalid(resource, name, `${field}[${key}]`, "not a valid key");
      bytes += new TextEncoder().encode(value).length;
    }
  }
  if (bytes > MAX_CONFIG_MAP_BYTES) {
    throw invalid(resource, name, "data", `may not be more than ${MAX_CONFIG_MAP_BYTES} bytes`);
  }
  if (body.immutable !== undefined && typeof body.immutable !== "boolean") throw badRequest("immutable: not a boolean");
  return {
    apiVersion: "v1" as const,
    kind: "ConfigMap" as const,
    metadata,
    ...(isStringRecord(data) && { data }),
    ...(isStringRecord(binaryData) && { binaryData }),
    ...(typeof body.immutable === "boolean" && { immutable: body.immutable }),
  };
}

function newMeta(resource: Resource, namespace: string, name: string, body: JsonObject): NewMeta {
  const metadata = isObject(body.metadata) ? body.metadata : {};
  if (metadata.namespace !== undefined && metadata.namespace !== namespace) {
    throw badRequest("the namespace of the object does not match the namespace on the request");
  }
  if (!/^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/.test(name)) {
    throw invalid(resource, name, "metadata.name", "must be a lowercase RFC 1123 subdomain");
  }
  return { name, namespace, ...freeMetadata(metadata) };
}

/** Labels and annotations of a body, the only metadata that a client sets here. */
function freeMetadata(metadata: JsonObject): Pick<NewMeta, "labels" | "annotations"> {
  const { labels, annotations } = metadata;
  if (labels !== undefined && labels !== null && !isStringRecord(labels)) {
    throw badRequest("metadata.labels: not an object of strings");
  }
  if (annotations !== undefined && annotations !== null && !isStringRecord(annotations)) {
    throw badRequest("metadata.annotations: not an object of strings");
  }
  return { labels: labels ?? undefined, annotations: annotations ?? undefined };
}

function changedJob(resource: Resource, current: Job, body: JsonObject): Job {
  const { name } = current.metadata;
  const spec = isObject(body.spec) ? body.spec : {};
  const { suspend, parallelism, ttlSecondsAfterFinished, ...rest } = spec;
  const { suspend: _s, parallelism: _p, ttlSecondsAfterFinished: _t, ...fixed } = current.spec;
  if (!sameJson(rest, fixed)) {
    throw invalid(resource, name, "spec", "only suspend, parallelism and ttlSecondsAfterFinished can be changed here");
  }
  if (typeof suspend !== "boolean") throw invalid(resource, name, "spec.suspend", "must be a boolean");
  if (!isCount(parallelism)) throw invalid(resource, name, "spec.parallelism", "must be a number of pods");
  if (ttlSecondsAfterFinished !== undefined && !isCount(ttlSecondsAfterFinished)) {
    throw invalid(resource, name, "spec.ttlSecondsAfterFinished", "must be a number of seconds");
  }
  const changed = { suspend, parallelism, ttlSecondsAfterFinished };
  const { ttlSecondsAfterFinished: _old, ...kept } = current.spec;
  const next = { ...kept, ...changed };
  const generation = (current.metadata.generation ?? 1) + (sameJson(next, current.spec) ? 0 : 1);
  const metadata = { ...current.metadata, ...freeMetadata(isObject(body.metadata) ? body.metadata : {}), generation };
  return { ...current, metadata, spec: next };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 0x7fff_ffff;
}
