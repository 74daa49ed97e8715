import type { JsonObject } from "./json_values.ts";
import { type Field, fieldsOf, last, readEnvelope, record, text } from "./protobuf.ts";

/**
 * Reads a ConfigMap from Kubernetes' protobuf encoding, in which `kubectl create configmap` sends it (field numbers of `core/v1` and
 * `meta/v1`). Members that this cluster does not store are left out. Throws a 400 for anything else.
 */
export function readProtobufConfigMap(bytes: Uint8Array): JsonObject {
  const { apiVersion, kind, fields } = readEnvelope(bytes);
  const immutable = fields.findLast(({ number }) => number === 4)?.value;
  return {
    apiVersion,
    kind,
    metadata: metadataOf(fieldsOf(last(fields, 1))),
    data: record(fields, 2, text),
    binaryData: record(fields, 3, (value) => value.toBase64()),
    ...(typeof immutable === "bigint" && { immutable: immutable !== 0n }),
  };
}

/** Reads a `SelfSubjectAccessReview` from Kubernetes' protobuf encoding (field numbers of `authorization/v1`). Throws a 400. */
export function readProtobufReview(bytes: Uint8Array): JsonObject {
  const { apiVersion, kind, fields } = readEnvelope(bytes);
  const message = last(fieldsOf(last(fields, 2)), 1);
  const names = ["namespace", "verb", "group", "version", "resource", "subresource", "name"];
  const attributes = message &&
    Object.fromEntries(names.map((name, at) => [name, text(last(fieldsOf(message), at + 1))]));
  return { apiVersion, kind, spec: { resourceAttributes: attributes } };
}

function metadataOf(fields: readonly Field[]): JsonObject {
  const named = [[1, "name"], [2, "generateName"], [3, "namespace"], [5, "uid"], [6, "resourceVersion"]] as const;
  const texts = named.map(([number, name]) => [name, text(last(fields, number))]);
  return {
    ...Object.fromEntries(texts.filter(([, value]) => value !== "")),
    labels: record(fields, 11, text),
    annotations: record(fields, 12, text),
  };
}
