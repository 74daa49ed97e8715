import type { CompletedPart } from "@/embedded/store/changes.ts";
import type { Caller } from "./caller.ts";
import { writeCondition } from "./conditions.ts";
import { writtenVersionHeader } from "./object_version.ts";
import { childWord, type XmlElement } from "./read_xml.ts";
import { S3Error } from "./s3_error.ts";
import type { S3Call } from "./s3_operation.ts";
import type { S3Request } from "./s3_request.ts";
import { checksumElements, checksumsIn, checksumsOf } from "./upload_checksums.ts";
import { MAX_PARTS, namedUpload } from "./upload_parameters.ts";
import { element, xmlResponse } from "./xml.ts";
import { xmlBody } from "./xml_body.ts";

/** CompleteMultipartUpload: the object appears whole, or not at all. */
export async function completeMultipartUpload(call: S3Call): Promise<Response> {
  const { store, caller, request, key } = call;
  const { in: bucket, ...name } = namedUpload(call);
  const condition = writeCondition(request.headers);
  const size = statedSize(request.headers.get("x-amz-mp-object-size"));
  const xml = await receiveXml(request, caller);
  const parts = judgedParts(xml, () => store.uploads.find(name.bucket, name.key, name.upload) !== null);
  const { version, etag, checksums } = await store.writer.change("completeUpload", {
    ...name,
    parts,
    checksums: checksumsOf(request.headers),
    size,
    condition,
    atMs: store.now(),
  });
  return xmlResponse(
    "CompleteMultipartUploadResult",
    element("Location", location(request.headers.get("host") ?? "", bucket.name, key)) +
      element("Bucket", bucket.name) + element("Key", key) +
      element("ETag", `"${etag}"`) + checksumElements(checksums ?? {}),
    writtenVersionHeader(version),
  );
}

/**
 * The parts that CompleteMultipartUpload names. An unknown upload is reported before errors in them.
 *
 * @throws {S3Error}
 */
function judgedParts(xml: XmlElement, isOpen: () => boolean): CompletedPart[] {
  try {
    return completedParts(xml);
  } catch (error) {
    throw isOpen() ? error : new S3Error("NoSuchUpload");
  }
}

/**
 * The parts that CompleteMultipartUpload names, in ascending order of their numbers.
 *
 * @throws {S3Error}
 */
export function completedParts(xml: XmlElement): CompletedPart[] {
  if (xml.name !== "CompleteMultipartUpload") throw new S3Error("MalformedXML");
  const parts = xml.children.filter(({ name }) => name === "Part").map(completedPart);
  if (parts.length === 0 || parts.length > MAX_PARTS) {
    throw new S3Error("MalformedXML", `A complete must name 1 to ${MAX_PARTS} parts`);
  }
  if (parts.some(({ number }, i) => i > 0 && number <= parts[i - 1].number)) throw new S3Error("InvalidPartOrder");
  return parts;
}

function completedPart(xml: XmlElement): CompletedPart {
  const number = childWord(xml, "PartNumber");
  const etag = childWord(xml, "ETag")?.replace(/^"(.*)"$/, "$1");
  if (number === null || etag === undefined || !/^[0-9]{1,9}$/.test(number)) {
    throw new S3Error("MalformedXML", "Each Part must have a PartNumber and an ETag");
  }
  if (Number(number) < 1 || Number(number) > MAX_PARTS) {
    throw new S3Error("InvalidArgument", `PartNumber must be a whole number from 1 to ${MAX_PARTS}`);
  }
  if (!/^[0-9a-f]{32}$/.test(etag)) throw new S3Error("InvalidPart");
  return { number: Number(number), etag, checksums: checksumsIn(xml) };
}

function statedSize(text: string | null): number | null {
  if (text === null) return null;
  if (!/^[0-9]{1,15}$/.test(text)) throw new S3Error("InvalidRequest", "x-amz-mp-object-size must be a whole number");
  return Number(text);
}

function location(host: string, bucket: string, key: string): string {
  return `http://${host}/${[bucket, ...key.split("/")].map(encodeURIComponent).join("/")}`;
}

/**
 * Receives the XML body of CompleteMultipartUpload as {@link xmlBody} does, without the checksums of its headers: those
 * belong to the object, not to the body. A checksum in the trailer belongs to the body. The root may have any name.
 *
 * @throws as xmlBody does
 */
function receiveXml(request: S3Request, caller: Caller): Promise<XmlElement> {
  const headers = new Headers(request.headers);
  for (const name of request.headers.keys()) if (OF_THE_OBJECT.test(name)) headers.delete(name);
  return xmlBody({ ...request, headers }, caller, null);
}

const OF_THE_OBJECT = /^x-amz-(?:checksum-|sdk-checksum-algorithm$)/;
