import { badRequest } from "./api_status.ts";
import type { JsonObject } from "./json_body.ts";

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
    metadata: metadataOf(fieldsOf(last(fields, 1))),
    data: texts(fields, 2),
    ...(fields.some(({ number }) => number === 3) && { binaryData: {} }),
    ...(fields.some(({ number }) => number === 4) && { immutable: true }),
  };
}

function metadataOf(fields: readonly Field[]): JsonObject {
  const named = [[1, "name"], [3, "namespace"]] as const;
  const given = named.map(([number, name]) => [name, text(last(fields, number))]);
  return {
    ...Object.fromEntries(given.filter(([, value]) => value !== "")),
    labels: texts(fields, 11),
    annotations: texts(fields, 12),
  };
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
