import { Buffer } from "node:buffer";
import { isObject } from "@/lib/std/is_object.ts";
import { badRequest, invalid } from "./api_status.ts";
import { isStringRecord, type JsonObject } from "./json_values.ts";
import type { ConfigMap, NewMeta } from "./objects.ts";
import { apiVersionOf, type Resource } from "./resources.ts";
import { isLabelKey, isLabelValue } from "./selectors.ts";

/** The data of a ConfigMap may have this many bytes in all (Kubernetes, "ConfigMaps"). */
const MAX_CONFIG_MAP_BYTES = 1024 * 1024;
/** The annotations of an object may have this many bytes in all. */
const MAX_ANNOTATION_BYTES = 256 * 1024;

/** A ConfigMap without the fields that the store sets. */
export type ConfigMapContent = Omit<ConfigMap, "metadata"> & { readonly metadata: NewMeta };

/** Reads a ConfigMap from a request's body. @throws ApiError 400 for another object, 422 for an invalid one */
export function configMapContent(
  resource: Resource,
  namespace: string,
  name: string,
  body: JsonObject,
): ConfigMapContent {
  if (body.kind !== undefined && body.kind !== resource.kind) throw badRequest(`kind: not ${resource.kind}`);
  if (body.apiVersion !== undefined && body.apiVersion !== apiVersionOf(resource)) {
    throw badRequest(`apiVersion: not ${apiVersionOf(resource)}`);
  }
  const metadata = metadataOf(body);
  if (metadata.namespace !== undefined && metadata.namespace !== "" && metadata.namespace !== namespace) {
    throw badRequest("the namespace of the object does not match the namespace on the request");
  }
  if (name.length > 253 || !/^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/.test(name)) {
    throw invalid(resource, name, "metadata.name", "must be a lowercase RFC 1123 subdomain");
  }
  const data = record(body.data, "data");
  const binaryData = record(body.binaryData, "binaryData");
  checkData(resource, name, data, binaryData);
  const { immutable } = body;
  if (immutable !== undefined && immutable !== null && typeof immutable !== "boolean") {
    throw badRequest("immutable: not a boolean");
  }
  return {
    apiVersion: "v1" as const,
    kind: "ConfigMap" as const,
    metadata: { name, namespace, ...freeMetadata(resource, name, body) },
    ...(data && { data }),
    ...(binaryData && { binaryData }),
    ...(typeof immutable === "boolean" && { immutable }),
  };
}

/** Labels and annotations of a body, the only metadata that a client can set here. @throws ApiError 400 or 422 */
export function freeMetadata(
  resource: Resource,
  name: string,
  body: JsonObject,
): Pick<NewMeta, "labels" | "annotations"> {
  const metadata = metadataOf(body);
  for (const field of ["finalizers", "ownerReferences"]) {
    const value = metadata[field];
    if (Array.isArray(value) && value.length > 0) {
      throw invalid(resource, name, `metadata.${field}`, "is not offered by this cluster");
    }
  }
  const labels = record(metadata.labels, "metadata.labels");
  for (const [key, value] of Object.entries(labels ?? {})) {
    if (!isLabelKey(key)) throw invalid(resource, name, "metadata.labels", `${JSON.stringify(key)} is no label key`);
    if (!isLabelValue(value)) {
      const why = `${JSON.stringify(value)} is no label value: at most 63 letters, digits, '-', '_' and '.', with a ` +
        "letter or digit at both ends";
      throw invalid(resource, name, "metadata.labels", why);
    }
  }
  const annotations = record(metadata.annotations, "metadata.annotations");
  let bytes = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    // Unlike label keys, annotation keys are validated without regard to case.
    if (!isLabelKey(key.toLowerCase())) {
      throw invalid(resource, name, "metadata.annotations", `${JSON.stringify(key)} is no annotation key`);
    }
    bytes += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (bytes > MAX_ANNOTATION_BYTES) {
    throw invalid(resource, name, "metadata.annotations", `may not be more than ${MAX_ANNOTATION_BYTES} bytes`);
  }
  return { labels, annotations };
}

/** The members of a body that a ConfigMap does not have, by their paths. */
export function unknownFields(body: JsonObject): string[] {
  const metadata = isObject(body.metadata) ? Object.keys(body.metadata) : [];
  return [
    ...Object.keys(body).filter((key) => !OBJECT_FIELDS.includes(key)),
    ...metadata.filter((key) => !METADATA_FIELDS.includes(key)).map((key) => `metadata.${key}`),
  ];
}

/** The metadata of a body. @throws ApiError 400 when it is not an object */
export function metadataOf(body: JsonObject): JsonObject {
  const metadata = body.metadata ?? {};
  if (!isObject(metadata)) throw badRequest("metadata: not an object");
  return metadata;
}

const OBJECT_FIELDS = ["apiVersion", "kind", "metadata", "data", "binaryData", "immutable"];
const METADATA_FIELDS = [
  "name",
  "generateName",
  "namespace",
  "selfLink",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "labels",
  "annotations",
  "ownerReferences",
  "finalizers",
  "managedFields",
];

function record(value: unknown, field: string): Record<string, string> | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isStringRecord(value)) throw badRequest(`${field}: not an object of strings`);
  return Object.keys(value).length > 0 ? value : undefined;
}

function checkData(
  resource: Resource,
  name: string,
  data: Record<string, string> = {},
  binaryData: Record<string, string> = {},
): void {
  let bytes = 0;
  const check = (field: string, key: string) => {
    if (!/^[-._a-zA-Z0-9]{1,253}$/.test(key) || key === "." || key.startsWith("..")) {
      throw invalid(resource, name, `${field}[${key}]`, "not a valid key");
    }
  };
  for (const [key, value] of Object.entries(data)) {
    check("data", key);
    if (Object.hasOwn(binaryData, key)) throw invalid(resource, name, `data[${key}]`, "is in binaryData too");
    bytes += Buffer.byteLength(value);
  }
  for (const [key, value] of Object.entries(binaryData)) {
    check("binaryData", key);
    if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(value)) {
      throw badRequest(`binaryData[${key}]: not base64`);
    }
    bytes += Buffer.from(value, "base64").length;
  }
  if (bytes > MAX_CONFIG_MAP_BYTES) {
    throw invalid(resource, name, "data", `may not be more than ${MAX_CONFIG_MAP_BYTES} bytes`);
  }
}
