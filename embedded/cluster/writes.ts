import { isObject } from "@/lib/std/is_object.ts";
import {
  alreadyExists,
  badRequest,
  conflict,
  fieldConflict,
  invalid,
  methodNotAllowed,
  notFound,
} from "./api_status.ts";
import type { ClusterConventions, NewJob } from "./campaign_objects.ts";
import { type ConfigMapContent, configMapContent } from "./config_map_body.ts";
import { jobContent } from "./job_body.ts";
import { type JsonObject, mergePatch, sameJson } from "./json_values.ts";
import { matchesLastApplied } from "./last_applied.ts";
import { applyFields, requestedOwners, updateFields } from "./managed_fields.ts";
import { type ConfigMap, type Job, type KubeObject, type ManagedFields, timestamp } from "./objects.ts";
import { freeMetadata, metadataOf } from "./object_body.ts";
import type { Resource } from "./resources.ts";
import type { ClusterStore } from "./store.ts";

/** The field manager of a write and its mode. */
export interface Writing {
  /** The field manager. */
  readonly manager: string;
  /** Nothing is stored. */
  readonly dryRun: boolean;
  /** By which Jobs of campaigns are recognised. */
  readonly conventions: ClusterConventions;
}

/** Creates a ConfigMap or a Job from a request's body. @throws ApiError 400, 404, 409 or 422 */
export function createObject(
  store: ClusterStore,
  resource: Resource,
  namespace: string,
  body: JsonObject,
  { manager, dryRun, conventions }: Writing,
): KubeObject {
  const { name: given, generateName } = metadataOf(body);
  const name = typeof given === "string" && given !== "" ? given : generatedName(store, generateName);
  if (name === "") throw invalid(resource, name, "metadata.name", "a name is required");
  if (metadataOf(body).resourceVersion) throw badRequest("resourceVersion should not be set on objects to be created");
  if (resource.plural === "jobs") {
    const job = jobContent(resource, conventions, namespace, name, body);
    if (store.get("jobs", namespace, name)) throw alreadyExists(resource, name);
    return createdJob(store, job, dryRun);
  }
  const content = configMapContent(resource, namespace, name, body);
  if (store.get("configmaps", namespace, name)) throw alreadyExists(resource, name);
  const managedFields = updateFields(null, [], content, manager, store.now());
  return stored(store, undefined, content, managedFields, dryRun);
}

/**
 * Replaces an object with the result of a PUT or a patch. ConfigMaps can change freely, of a Job only `suspend`,
 * `parallelism`, `ttlSecondsAfterFinished`, labels and annotations: the controller here supports no other change.
 *
 * @throws ApiError 400, 409 or 422
 */
export function replaceObject(
  store: ClusterStore,
  resource: Resource,
  current: KubeObject,
  body: JsonObject,
  { manager, dryRun }: Writing,
): KubeObject {
  const { namespace = "", name } = current.metadata;
  checkVersion(resource, current, body);
  if (current.kind === "ConfigMap") {
    const content = configMapContent(resource, namespace, name, body);
    checkImmutable(resource, current, content);
    const known = requestedOwners(metadataOf(body).managedFields, current.metadata.managedFields ?? []);
    if (known === null) throw invalid(resource, name, "metadata.managedFields", "not a list of field owners");
    const managedFields = updateFields(current, known, content, manager, store.now());
    return stored(store, current, content, managedFields, dryRun);
  }
  if (current.kind !== "Job") throw methodNotAllowed(`changing ${resource.plural}`);
  const next = changedJob(resource, current, body);
  // An unchanged object has the same version, as in the real store.
  return dryRun || sameJson(next, current) ? next : store.replace("jobs", next);
}

/**
 * Server-side apply of a ConfigMap or a Job, which is created when absent. The fields of Jobs have no owners here: an
 * apply changes what a PUT may change.
 *
 * @throws ApiError 400, 422, and 409 when another manager owns a field that would change (unless `force`), or the body
 * names another version or the uid of a deleted object
 */
export function applyObject(
  store: ClusterStore,
  resource: Resource,
  namespace: string,
  name: string,
  body: JsonObject,
  writing: Writing & { readonly force: boolean },
): { readonly object: KubeObject; readonly isNew: boolean } {
  const metadata = metadataOf(body);
  for (const field of ["apiVersion", "kind"]) {
    if (typeof body[field] !== "string" || body[field] === "") throw badRequest(`${field}: an apply must name it`);
  }
  if (metadata.managedFields !== undefined && metadata.managedFields !== null) {
    throw badRequest("metadata.managedFields must be nil");
  }
  if (metadata.name === undefined || metadata.name === "") throw badRequest("metadata.name: an apply must name it");
  if (metadata.name !== name) throw badRequest("the name of the object does not match the name on the URL");
  const current = store.get(resource.plural, namespace, name);
  if (current) {
    checkVersion(resource, current, body);
    checkUid(resource, current, body);
  } else if (metadata.uid) {
    const why = `uid mismatch: the provided object specified uid ${metadata.uid}, and no existing object was found`;
    throw conflict(resource, name, why);
  }
  return resource.plural === "jobs"
    ? applyJob(store, resource, namespace, name, body, writing)
    : applyConfigMap(store, resource, namespace, name, body, writing);
}

function applyJob(
  store: ClusterStore,
  resource: Resource,
  namespace: string,
  name: string,
  body: JsonObject,
  { dryRun, conventions }: Writing,
): { readonly object: KubeObject; readonly isNew: boolean } {
  const current = store.get("jobs", namespace, name);
  const { labels, annotations } = current?.metadata ?? {};
  // What the apply leaves out stays, since nothing says who set it.
  const metadata = mergePatch({ labels, annotations }, metadataOf(body));
  const spec = mergePatch(current?.spec ?? {}, body.spec ?? {});
  const applied = jobContent(resource, conventions, namespace, name, { ...body, metadata, spec });
  if (!current) return { object: createdJob(store, applied, dryRun), isNew: true };
  const next = changedJob(resource, current, { metadata: { ...applied.metadata }, spec: { ...applied.spec } });
  return { object: dryRun || sameJson(next, current) ? next : store.replace("jobs", next), isNew: false };
}

function createdJob(store: ClusterStore, job: NewJob, dryRun: boolean): KubeObject {
  if (!dryRun) return store.create("jobs", job);
  const unstored = { uid: "", resourceVersion: "", creationTimestamp: timestamp(store.now()) };
  return { ...job, metadata: { ...job.metadata, ...unstored } };
}

function applyConfigMap(
  store: ClusterStore,
  resource: Resource,
  namespace: string,
  name: string,
  body: JsonObject,
  { manager, dryRun, force }: Writing & { readonly force: boolean },
): { readonly object: KubeObject; readonly isNew: boolean } {
  const content = configMapContent(resource, namespace, name, body);
  const current = store.get("configmaps", namespace, name);
  const before = current?.metadata.managedFields ?? [];
  const apply = (force: boolean) =>
    applyFields(current ?? null, before, emptied(content, body), manager, force, store.now());
  let applied = apply(force);
  if (applied.conflicts.length > 0) {
    const movesOver = manager === "kubectl" && current &&
      matchesLastApplied(current, applied.conflicts.map(({ path }) => path));
    if (!movesOver) throw fieldConflict(applied.conflicts);
    applied = apply(true);
  }
  // Validated again as a whole: two managers together may exceed a limit.
  const whole = configMapContent(resource, namespace, name, { ...applied.content });
  if (current) checkImmutable(resource, current, whole);
  return { object: stored(store, current, whole, applied.managedFields, dryRun), isNew: !current };
}

/**
 * Server-side apply by force, as the tool that submits campaigns writes: fields of other managers stay as they are,
 * except those that the map sets.
 */
export function applyByForce(store: ClusterStore, map: ConfigMapContent, manager: string): void {
  const { name, namespace = "" } = map.metadata;
  const current = store.get("configmaps", namespace, name);
  const before = current?.metadata.managedFields ?? [];
  const { content, managedFields } = applyFields(current ?? null, before, map, manager, true, store.now());
  const metadata = { name, namespace, ...content.metadata };
  stored(store, current, { apiVersion: map.apiVersion, kind: map.kind, ...content, metadata }, managedFields);
}

/** Rejects a patch with another uid than the object's, since uids never change. @throws ApiError 422 */
export function checkUid(resource: Resource, current: KubeObject, body: JsonObject): void {
  const { uid } = metadataOf(body);
  if (uid !== undefined && uid !== null && uid !== "" && uid !== current.metadata.uid) {
    throw invalid(resource, current.metadata.name, "metadata.uid", "field is immutable");
  }
}

/** Deletes an object after checking the preconditions of `DeleteOptions`; a Job's pods are deleted too. */
export function deleteObject(
  store: ClusterStore,
  resource: Resource,
  current: KubeObject,
  options: JsonObject,
  propagation: string | null,
  dryRun: boolean,
): void {
  const { name, uid, resourceVersion } = current.metadata;
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
  store.deleteWithPods(resource.plural, current);
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
  managedFields: readonly ManagedFields[],
  dryRun = false,
): KubeObject {
  const owners = { managedFields: managedFields.length > 0 ? managedFields : undefined };
  if (!current) {
    const created = { ...content, metadata: { ...content.metadata, ...owners } };
    if (!dryRun) return store.create("configmaps", created);
    const unstored = { uid: "", resourceVersion: "", creationTimestamp: timestamp(store.now()) };
    return { ...created, metadata: { ...created.metadata, ...unstored } };
  }
  const next: ConfigMap = { ...content, metadata: { ...current.metadata, ...content.metadata, ...owners } };
  return dryRun || sameJson(next, current) ? next : store.replace("configmaps", next);
}

/** The content with the maps that are empty in the body: an apply of an empty map owns it. */
function emptied(content: ConfigMapContent, body: JsonObject) {
  const isEmpty = (value: unknown) => isObject(value) && Object.keys(value).length === 0;
  const { labels, annotations } = metadataOf(body);
  return {
    ...content,
    ...(isEmpty(body.data) && { data: {} }),
    ...(isEmpty(body.binaryData) && { binaryData: {} }),
    metadata: {
      ...content.metadata,
      ...(isEmpty(labels) && { labels: {} }),
      ...(isEmpty(annotations) && { annotations: {} }),
    },
  };
}

const SUFFIX_LETTERS = "bcdfghjklmnpqrstvwxz2456789";
/** Generated names are cut to this prefix, so that they fit into a label. */
const MAX_GENERATED_PREFIX = 58;

function generatedName(store: ClusterStore, prefix: unknown): string {
  if (typeof prefix !== "string" || prefix === "") return "";
  const letter = () => SUFFIX_LETTERS[Math.floor(store.random() * SUFFIX_LETTERS.length)];
  return prefix.slice(0, MAX_GENERATED_PREFIX) + Array.from({ length: 5 }, letter).join("");
}

function checkVersion(resource: Resource, current: KubeObject, body: JsonObject): void {
  const { name, resourceVersion } = current.metadata;
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
}

function checkImmutable(resource: Resource, current: ConfigMap, next: ConfigMapContent): void {
  if (!current.immutable) return;
  const same = sameJson([next.data, next.binaryData, next.immutable], [current.data, current.binaryData, true]);
  if (!same) throw invalid(resource, current.metadata.name, "data", "field is immutable when `immutable` is set");
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
  const metadata = { ...current.metadata, ...freeMetadata(resource, name, body), generation };
  return { ...current, metadata, spec: next };
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 0x7fff_ffff;
}
