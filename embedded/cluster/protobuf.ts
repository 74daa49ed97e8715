import { badRequest } from "./api_status.ts";

/** A field of a protobuf message. */
export interface Field {
  readonly number: number;
  /** A number of a varint, the bytes of everything else. */
  readonly value: bigint | Uint8Array;
}

const MAGIC = [0x6b, 0x38, 0x73, 0x00];
const EMPTY = new Uint8Array();

/** An object in the envelope that Kubernetes puts around each (API concepts, "Kubernetes Protobuf encoding"). Throws a 400. */
export function readEnvelope(bytes: Uint8Array) {
  if (!MAGIC.every((byte, index) => bytes[index] === byte)) throw broken();
  const envelope = fieldsOf(bytes.subarray(MAGIC.length));
  const type = fieldsOf(last(envelope, 1));
  return { apiVersion: text(last(type, 1)), kind: text(last(type, 2)), fields: fieldsOf(last(envelope, 2)) };
}

/** A map: its entries are messages of a key and a value. */
export function record(
  fields: readonly Field[],
  number: number,
  read: (value: Uint8Array) => string,
): Record<string, string> | undefined {
  const entries = fields.filter((field) => field.number === number).map(({ value }) => {
    const entry = fieldsOf(value);
    return [text(last(entry, 1)), read(last(entry, 2) ?? EMPTY)];
  });
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

/** The bytes of the last field with a number: by the encoding the last one counts. */
export function last(fields: readonly Field[], number: number): Uint8Array | undefined {
  const value = fields.findLast((field) => field.number === number)?.value;
  if (typeof value === "bigint") throw broken();
  return value;
}

export function text(bytes: Uint8Array = EMPTY): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw broken();
  }
}

/** The fields of a protobuf message, in their order ("Protocol Buffers", encoding). */
export function fieldsOf(message: Field["value"] = EMPTY): Field[] {
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
  while (at < message.length) {
    const tag = varint();
    const number = Number(tag >> 3n);
    if (number === 0) throw broken();
    const read = READERS.get(tag & 7n);
    if (!read) throw broken();
    fields.push({ number, value: read(varint, bytes) });
  }
  return fields;
}

type Reader = (varint: () => bigint, bytes: (length: number) => Uint8Array) => Field["value"];

/** By wire type. */
const READERS: ReadonlyMap<bigint, Reader> = new Map<bigint, Reader>([
  [0n, (varint) => varint()],
  [1n, (_, bytes) => bytes(8)],
  [2n, (varint, bytes) => bytes(Number(varint()))],
  [5n, (_, bytes) => bytes(4)],
]);

function broken() {
  return badRequest("the body of the request is not in Kubernetes' protobuf encoding");
}
