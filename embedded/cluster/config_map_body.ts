import { Buffer } from "node:buffer";
import { isObject } from "@/lib/std/is_object.ts";
import { badRequest, invalid } from "./api_status.ts";
import type { JsonObject } from "./json_values.ts";
import type { ConfigMap, NewMeta } from "./objects.ts";
import { checkIdentity, freeMetadata, stringRecord } from "./object_body.ts";
import type { Resource } from "./resources.ts";

/** The data of a ConfigMap may have this many bytes in all (Kubernetes, "ConfigMaps"). */
const MAX_CONFIG_MAP_BYTES = 1024 * 1024;

/** A ConfigMap without the fields that the store sets. */
export type ConfigMapContent = Omit<ConfigMap, "metadata"> & { readonly metadata: NewMeta };

/** Reads a ConfigMap from a request's body. @throws ApiError 400 for another object, 422 for an invalid one */
export function configMapContent(
  resource: Resource,
  namespace: string,
  name: string,
  body: JsonObject,
): ConfigMapContent {
  checkIdentity(resource, namespace, name, body);
  const data = stringRecord(body.data, "data");
  const binaryData = stringRecord(body.binaryData, "binaryData");
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

/** The members of a body that a ConfigMap does not have, by their paths. */
export function unknownFields(body: JsonObject): string[] {
  const metadata = isObject(body.metadata) ? Object.keys(body.metadata) : [];
  return [
    ...Object.keys(body).filter((key) => !OBJECT_FIELDS.includes(key)),
    ...metadata.filter((key) => !METADATA_FIELDS.includes(key)).map((key) => `metadata.${key}`),
  ];
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
