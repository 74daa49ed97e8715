import { isObject } from "@/lib/std/untrusted.ts";
import {
  alreadyExists,
  badRequest,
  conflict,
  fieldConflict,
  invalid,
  invalidOptions,
  methodNotAllowed,
  notFound,
  unsupportedMediaType,
} from "./api_status.ts";
import type { ClusterConventions } from "./campaign_objects.ts";
import type { Resource } from "./discovery.ts";
import { CAMPAIGN_SPEC, type JobSpec, WARMUP_SPEC } from "./job_spec.ts";
import { isShallow, type JsonObject, jsonPatch, mergePatch, type RequestBody, sameJson } from "./json_body.ts";
import { type ConfigMap, type Job, type KubeObject, type NewMeta, timestamp } from "./kube_objects.ts";
import { applyFields, ownersAfterWrite } from "./managed_fields.ts";
import {
  checkIdentity,
  type ConfigMapContent,
  configMapContent,
  freeMetadata,
  metadataOf,
  type Place,
} from "./object_body.ts";
import type { ClusterStore } from "./store.ts";
import { isCampaignJob, isWarmupJob } from "./submitted_campaign.ts";

/** A Job before it is stored. */
type NewJob = Omit<Job, "metadata"> & { metadata: NewMeta };

/** The object of a write. */
interface Written extends Place {
  /** Nothing is stored. */
  readonly dryRun: boolean;
}

/** Creates a ConfigMap or a Job from a request's body; `conventions` tell campaigns' Jobs. @throws ApiError 400, 409 or 422 */
export function createObject(
  store: ClusterStore,
  { resource, namespace, dryRun }: Omit<Written, "name">,
  body: JsonObject,
  conventions: ClusterConventions,
): KubeObject {
  const metadata = metadataOf(body);
  const name = typeof metadata.name === "string" ? metadata.name : "";
  if (name === "") throw invalid(resource, name, "metadata.name", "a name is required");
  if (metadata.resourceVersion) throw badRequest("resourceVersion should not be set on objects to be created");
  const content = resource.plural === "jobs"
    ? jobContent({ resource, namespace, name }, conventions, body)
    : configMapContent({ resource, namespace, name }, body);
  if (store.get(resource.plural, namespace, name)) throw alreadyExists(resource, name);
  return created(store, content, dryRun);
}

/**
 * Replaces an object with the result of a PUT or a patch. ConfigMaps can change freely, of a Job only `suspend`,
 * `parallelism`, `ttlSecondsAfterFinished`, labels and annotations: the controller here supports no other change.
 *
 * @throws ApiError 400, 409 or 422
 */
export function replaceObject(
  store: ClusterStore,
  { resource, dryRun }: Written,
  current: KubeObject,
  body: JsonObject,
): KubeObject {
  const { namespace = "", name } = current.metadata;
  checkSameObject(resource, current, body);
  if (current.kind === "ConfigMap") {
    const content = configMapContent({ resource, namespace, name }, body);
    const metadata = { ...content.metadata, ...ownersAfterWrite(current, content) };
    return stored(store, current, { ...content, metadata }, dryRun);
  }
  if (current.kind !== "Job") throw methodNotAllowed(`changing ${resource.plural}`);
  const next = changedJob(resource, current, body);
  // An unchanged object has the same version, as in the real store.
  return dryRun || sameJson(next, current) ? next : store.replace("jobs", next);
}

const APPLY = "application/apply-patch+yaml";
const MERGE = "application/merge-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";
const JSON_PATCH = "application/json-patch+json";

/** How a request wants its patch to be made. */
interface Patching {
  readonly fieldManager: string;
  /** Take fields from their owners; for an apply alone. */
  readonly force: boolean;
  /** Checks the object of the patch, or the patched one, and returns the one to be stored. */
  readonly admit: (body: JsonObject) => JsonObject;
}

/** Patches an object by the kind of patch that a request's content type names. Throws 400, 404, 409, 413, 415 or 422. */
export async function patchObject(
  store: ClusterStore,
  body: RequestBody,
  written: Written,
  { fieldManager, force, admit }: Patching,
): Promise<{ readonly object: KubeObject; readonly isNew: boolean }> {
  const { resource, namespace, name } = written;
  const type = body.mediaType;
  const accepted = [JSON_PATCH, MERGE, STRATEGIC, ...(resource.plural === "configmaps" ? [APPLY] : [])];
  if (!accepted.includes(type)) throw unsupportedMediaType(accepted.join(", "));
  if (type === APPLY) {
    if (!fieldManager) throw invalidOptions("PatchOptions", "fieldManager", "Required", "is required for apply patch");
    return applyConfigMap(store, written, admit(await body.object()), { manager: fieldManager, force });
  }
  const patch = type === JSON_PATCH ? await body.json() : await body.object();
  if (type === STRATEGIC) checkPlain(patch);
  // Read after the body, which arrives later: between reading and storing nothing else may come.
  const current = existing(store, resource, namespace, name);
  const patched = type === JSON_PATCH ? jsonPatch(current, patch) : mergePatch(current, patch);
  if (!isObject(patched)) throw badRequest("the patch leaves no object");
  // Moves can nest what was side by side.
  if (!isShallow(patched)) throw badRequest("the patch leaves an object that is nested too deeply");
  return { object: replaceObject(store, written, current, admit(patched)), isNew: false };
}

/** A strategic merge patch without lists and directives is a merge patch; the others are not offered. */
function checkPlain(patch: unknown): void {
  if (Array.isArray(patch)) throw badRequest("strategic merge patches of lists are not offered by this cluster");
  if (!isObject(patch)) return;
  for (const [key, value] of Object.entries(patch)) {
    if (key.startsWith("$")) throw badRequest(`the directive ${key} is not offered by this cluster`);
    checkPlain(value);
  }
}

/**
 * Server-side apply of a ConfigMap, which is created when absent.
 *
 * @throws ApiError 400, 422, and 409 when another manager owns a field that would change (unless `force`), or the body
 * names another version or the uid of a deleted object
 */
function applyConfigMap(
  store: ClusterStore,
  { resource, namespace, name, dryRun }: Written,
  body: JsonObject,
  { manager, force }: { readonly manager: string; readonly force: boolean },
): { readonly object: KubeObject; readonly isNew: boolean } {
  const metadata = metadataOf(body);
  const names: [string, unknown][] = [
    ["apiVersion", body.apiVersion],
    ["kind", body.kind],
    ["metadata.name", metadata.name],
  ];
  for (const [field, value] of names) {
    if (typeof value !== "string" || value === "") throw badRequest(`${field}: an apply must name it`);
  }
  if (metadata.name !== name) throw badRequest("the name of the object does not match the name on the URL");
  const current = store.get("configmaps", namespace, name);
  if (current) checkSameObject(resource, current, body);
  else if (metadata.uid) throw conflict(resource, name, `no object with the uid ${metadata.uid} was found`);
  const wanted = configMapContent({ resource, namespace, name }, body);
  const { content, conflicts } = applyFields(current ?? null, wanted, { manager, force, now: store.now() });
  if (conflicts.length > 0) throw fieldConflict(conflicts);
  // Validated again as a whole: two managers together may exceed a limit.
  const whole = configMapContent({ resource, namespace, name }, { ...content });
  const { managedFields } = content.metadata;
  const next = { ...whole, metadata: { ...whole.metadata, managedFields } };
  return { object: stored(store, current, next, dryRun), isNew: !current };
}

/**
 * Server-side apply by force, as the tool that submits campaigns writes: fields of other managers stay as they are,
 * except those that the map sets.
 */
export function applyByForce(store: ClusterStore, map: ConfigMapContent, manager: string): void {
  const { name, namespace = "" } = map.metadata;
  const current = store.get("configmaps", namespace, name);
  const { content } = applyFields(current ?? null, map, { manager, force: true, now: store.now() });
  const metadata = { name, namespace, ...content.metadata };
  stored(store, current, { apiVersion: map.apiVersion, kind: map.kind, ...content, metadata });
}

/** Deletes an object; a Job's pods are deleted too. @throws ApiError 400 for options that are not offered */
export function deleteObject(
  store: ClusterStore,
  { resource, dryRun }: Written,
  current: KubeObject,
  options: JsonObject,
): void {
  if (options.preconditions) throw badRequest("preconditions are not offered by this cluster");
  const policy = options.propagationPolicy || "Background";
  if (policy !== "Background" && policy !== "Foreground") {
    throw badRequest("propagationPolicy: only Background and Foreground are offered");
  }
  if (!dryRun) store.deleteWithPods(resource.plural, current);
}

/** The object of a name. @throws ApiError 404 */
export function existing(store: ClusterStore, resource: Resource, namespace: string, name: string): KubeObject {
  const object = store.get(resource.plural, namespace, name);
  if (!object) throw notFound(resource, name);
  return object;
}

/** Stores a ConfigMap unless it is unchanged or `dryRun`. */
function stored(
  store: ClusterStore,
  current: ConfigMap | undefined,
  content: ConfigMapContent,
  dryRun = false,
): KubeObject {
  if (!current) return created(store, content, dryRun);
  const next: ConfigMap = { ...content, metadata: { ...current.metadata, ...content.metadata } };
  return dryRun || sameJson(next, current) ? next : store.replace("configmaps", next);
}

function created(store: ClusterStore, content: ConfigMapContent | NewJob, dryRun: boolean): KubeObject {
  if (dryRun) {
    const unstored = { uid: "", resourceVersion: "", creationTimestamp: timestamp(store.now()) };
    return { ...content, metadata: { ...content.metadata, ...unstored } };
  }
  return content.kind === "Job" ? store.create("jobs", content) : store.create("configmaps", content);
}

/** Rejects a body of another name, uid or version than the object's. @throws ApiError 400, 409 or 422 */
function checkSameObject(resource: Resource, current: KubeObject, body: JsonObject): void {
  const { name, uid, resourceVersion } = current.metadata;
  const wanted = metadataOf(body);
  if (wanted.name !== undefined && wanted.name !== name) {
    throw badRequest("the name of the object does not match the name on the URL");
  }
  const version = wanted.resourceVersion ?? "";
  if (typeof version !== "string" || !/^\d*$/.test(version)) {
    throw badRequest("metadata.resourceVersion: not a version");
  }
  // An empty version and "0" mean any.
  if (version !== "" && version !== "0" && version !== resourceVersion) {
    throw conflict(resource, name, "the object has been modified; please apply your changes to the latest version");
  }
  if ((wanted.uid || uid) !== uid) throw invalid(resource, name, "metadata.uid", "field is immutable");
}

function changedJob(resource: Resource, current: Job, body: JsonObject): Job {
  const { name, namespace = "" } = current.metadata;
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
  const metadata = { ...current.metadata, ...freeMetadata({ resource, namespace, name }, body), generation };
  return { ...current, metadata, spec: next };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 0x7fff_ffff;
}

const MAX_INT32 = 0x7fff_ffff;

/**
 * Reads a Job from a request's body and adds the defaults of batch/v1. Only Jobs of campaigns and of warm-ups are offered,
 * by their labels, since the workers here do no other work.
 *
 * @throws ApiError 400 for another object, 422 for an invalid Job and for a field that the controller here does not obey
 */
function jobContent(place: Place, conventions: ClusterConventions, body: JsonObject): NewJob {
  const { resource, namespace, name } = place;
  checkIdentity(place, body);
  const reject = (field: string, why: string) => invalid(resource, name, field, why);
  // The controller's label on pods holds the name.
  if (name.length > 63) throw reject("metadata.name", "must have at most 63 characters");
  const metadata = { name, namespace, generation: 1, ...freeMetadata(place, body) };
  const isCampaign = isCampaignJob({ metadata }, conventions);
  if (!isCampaign && !isWarmupJob({ metadata }, conventions)) {
    const { campaignApp, warmupApp, labelDomain, managedBy } = conventions;
    const why = `a Job that is not of a campaign is not offered by this cluster: label it app=${campaignApp} (or ` +
      `app=${warmupApp}) and ${labelDomain}managed-by=${managedBy}`;
    throw reject("metadata.labels", why);
  }
  const read = (isCampaign ? CAMPAIGN_SPEC : WARMUP_SPEC).safeParse(body.spec ?? {});
  if (!read.success) {
    const [{ path, message }] = read.error.issues;
    const field = path.map((part) => typeof part === "number" ? `[${part}]` : `.${String(part)}`).join("");
    throw reject(`spec${field}`, message);
  }
  const { podFailurePolicy, podReplacementPolicy = "TerminatingOrFailed", template, ...given } = read.data;
  // Without the uid that the real controller adds.
  const matchLabels = { "batch.kubernetes.io/job-name": name };
  const spec: JobSpec = {
    ...given,
    backoffLimit: given.backoffLimit ?? (given.backoffLimitPerIndex === undefined ? 6 : MAX_INT32),
    podFailurePolicy,
    podReplacementPolicy: podFailurePolicy ? "Failed" : podReplacementPolicy,
    selector: { matchLabels },
    template: {
      ...template,
      metadata: { ...template.metadata, labels: { ...template.metadata?.labels, ...matchLabels, "job-name": name } },
    },
  };
  return { apiVersion: "batch/v1", kind: "Job", metadata, spec, status: {} };
}
