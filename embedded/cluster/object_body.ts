import { Buffer } from "node:buffer";
import { isObject } from "@/lib/std/untrusted.ts";
import { badRequest, invalid } from "./api_status.ts";
import { apiVersionOf, type Resource } from "./discovery.ts";
import { isStringRecord, type JsonObject } from "./json_body.ts";
import type { ConfigMap, NewMeta } from "./kube_objects.ts";
import { isLabelKey, isLabelValue } from "./selection.ts";

/** The annotations of an object may have this many bytes in all. */
const MAX_ANNOTATION_BYTES = 256 * 1024;
/** The data of a ConfigMap may have this many bytes in all (Kubernetes, "ConfigMaps"). */
const MAX_CONFIG_MAP_BYTES = 1024 * 1024;

/** The object that a request names. */
export interface Place {
  readonly resource: Resource;
  readonly namespace: string;
  readonly name: string;
}

/** Checks that a body is the object that its request names. @throws ApiError 400 for another object, 422 for an invalid name */
export function checkIdentity({ resource, namespace, name }: Place, body: JsonObject): void {
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
}

/** Labels and annotations of a body, the only metadata that a client can set here. @throws ApiError 400 or 422 */
export function freeMetadata({ resource, name }: Place, body: JsonObject): Pick<NewMeta, "labels" | "annotations"> {
  const metadata = metadataOf(body);
  for (const field of ["finalizers", "ownerReferences"]) {
    const value = metadata[field];
    if (Array.isArray(value) && value.length > 0) {
      throw invalid(resource, name, `metadata.${field}`, "is not offered by this cluster");
    }
  }
  const labels = stringRecord(metadata.labels, "metadata.labels");
  for (const [key, value] of Object.entries(labels ?? {})) {
    if (!isLabelKey(key)) throw invalid(resource, name, "metadata.labels", `${JSON.stringify(key)} is no label key`);
    if (!isLabelValue(value)) {
      const why = `${JSON.stringify(value)} is no label value: at most 63 letters, digits, '-', '_' and '.', with a ` +
        "letter or digit at both ends";
      throw invalid(resource, name, "metadata.labels", why);
    }
  }
  const annotations = stringRecord(metadata.annotations, "metadata.annotations");
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

/** The metadata of a body. @throws ApiError 400 when it is not an object */
export function metadataOf(body: JsonObject): JsonObject {
  const metadata = body.metadata ?? {};
  if (!isObject(metadata)) throw badRequest("metadata: not an object");
  return metadata;
}

/** A member that is an object of strings; undefined for an empty one. @throws ApiError 400 */
function stringRecord(value: unknown, field: string): Record<string, string> | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isStringRecord(value)) throw badRequest(`${field}: not an object of strings`);
  return Object.keys(value).length > 0 ? value : undefined;
}

/** A ConfigMap without the fields that the store sets. */
export type ConfigMapContent = Omit<ConfigMap, "metadata"> & { readonly metadata: NewMeta };

const CONFIG_MAP_FIELDS = ["apiVersion", "kind", "metadata", "data"];

/** Reads a ConfigMap from a request's body. @throws ApiError 400 for another object, 422 for an invalid one */
export function configMapContent(place: Place, body: JsonObject): ConfigMapContent {
  const { resource, namespace, name } = place;
  checkIdentity(place, body);
  const unknown = Object.keys(body).filter((field) => !CONFIG_MAP_FIELDS.includes(field));
  if (unknown.length > 0) throw badRequest(`unknown field ${unknown.map((field) => JSON.stringify(field)).join(", ")}`);
  const data = stringRecord(body.data, "data");
  let bytes = 0;
  for (const [key, value] of Object.entries(data ?? {})) {
    if (!/^[-._a-zA-Z0-9]{1,253}$/.test(key) || key === "." || key.startsWith("..")) {
      throw invalid(resource, name, `data[${key}]`, "not a valid key");
    }
    bytes += Buffer.byteLength(value);
  }
  if (bytes > MAX_CONFIG_MAP_BYTES) {
    throw invalid(resource, name, "data", `may not be more than ${MAX_CONFIG_MAP_BYTES} bytes`);
  }
  const metadata = { name, namespace, ...freeMetadata(place, body) };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, ...(data && { data }) };
}

/** Stands for the archive's origin, whose port is another one for each data folder. */
const ARCHIVE_ADDRESS = "http://embedded-archive.internal";

/** Texts of a ConfigMap in which the address counts, by the part of the body that holds them. */
const VOLUMES = "volumes.txt";
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/**
 * A ConfigMap with the archive's real origin in its volumes.txt, as an admission webhook would write it: a file with a
 * campaign then serves every data folder. What `kubectl` notes as last applied changes alike, so that it finds its own
 * values again.
 */
export function withArchiveAddress(body: JsonObject, archiveUrl: string): JsonObject {
  const { data } = body;
  const metadata = metadataOf(body);
  const { annotations } = metadata;
  const replaced = (texts: Record<string, string>, key: string) =>
    Object.hasOwn(texts, key)
      ? { ...texts, [key]: texts[key].replaceAll(`${ARCHIVE_ADDRESS}/`, `${archiveUrl}/`) }
      : texts;
  return {
    ...body,
    ...(isStringRecord(data) && { data: replaced(data, VOLUMES) }),
    ...(isStringRecord(annotations) && { metadata: { ...metadata, annotations: replaced(annotations, LAST_APPLIED) } }),
  };
}

/**
 * Reads a ConfigMap from Kubernetes' protobuf encoding, in which `kubectl create configmap` sends it (field numbers of
 * `core/v1` and `meta/v1`). `binaryData` and `immutable` are read, so that they can be rejected.
 *
 * @throws ApiError 400 for anything else
 */
export function readProtobufConfigMap(bytes: Uint8Array): JsonObject {
  const { apiVersion, kind, fields } = readEnvelope(bytes);
  return {
    apiVersion,
    kind,
    metadata: readMetadata(fieldsOf(last(fields, 1))),
    data: texts(fields, 2),
    ...(fields.some(({ number }) => number === 3) && { binaryData: {} }),
    ...(fields.some(({ number }) => number === 4) && { immutable: true }),
  };
}

/** An absent name is an empty text there. */
function readMetadata(fields: readonly Field[]): JsonObject {
  const [name, namespace] = [1, 3].map((number) => text(last(fields, number)) || undefined);
  return { name, namespace, labels: texts(fields, 11), annotations: texts(fields, 12) };
}

/** A field of a protobuf message. */
interface Field {
  readonly number: number;
  /** A number of a varint, the bytes of everything else. */
  readonly value: bigint | Uint8Array;
}

const MAGIC = [0x6b, 0x38, 0x73, 0x00];
const EMPTY = new Uint8Array();

/** An object in the envelope that Kubernetes puts around each (API concepts, "Kubernetes Protobuf encoding"). Throws a 400. */
function readEnvelope(bytes: Uint8Array) {
  if (!MAGIC.every((byte, index) => bytes[index] === byte)) throw broken();
  const envelope = fieldsOf(bytes.subarray(MAGIC.length));
  const type = fieldsOf(last(envelope, 1));
  return { apiVersion: text(last(type, 1)), kind: text(last(type, 2)), fields: fieldsOf(last(envelope, 2)) };
}

/** A map of texts: its entries are messages of a key and a value. */
function texts(fields: readonly Field[], number: number): Record<string, string> | undefined {
  const entries = fields.filter((field) => field.number === number).map(({ value }) => {
    const entry = fieldsOf(value);
    return [text(last(entry, 1)), text(last(entry, 2))];
  });
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

/** The bytes of the last field with a number: by the encoding the last one counts. */
function last(fields: readonly Field[], number: number): Uint8Array | undefined {
  const value = fields.findLast((field) => field.number === number)?.value;
  if (typeof value === "bigint") throw broken();
  return value;
}

function text(bytes: Uint8Array = EMPTY): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw broken();
  }
}

/** The fields of a protobuf message, in their order ("Protocol Buffers", encoding). */
function fieldsOf(message: Field["value"] = EMPTY): Field[] {
  if (typeof message === "bigint") throw broken();
  const fields: Field[] = [];
  let at = 0;
  const varint = (): bigint => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = message[at++];
      if (byte === undefined) throw broken();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    throw broken();
  };
  const bytes = (length: number): Uint8Array => {
    if (length > message.length - at) throw broken();
    at += length;
    return message.subarray(at - length, at);
  };
  const valueOf = (wireType: bigint): Field["value"] => {
    if (wireType === 0n) return varint();
    if (wireType === 1n) return bytes(8);
    if (wireType === 2n) return bytes(Number(varint()));
    if (wireType === 5n) return bytes(4);
    throw broken();
  };
  while (at < message.length) {
    const tag = varint();
    const number = Number(tag >> 3n);
    if (number === 0) throw broken();
    fields.push({ number, value: valueOf(tag & 7n) });
  }
  return fields;
}

function broken() {
  return badRequest("the body of the request is not in Kubernetes' protobuf encoding");
}
