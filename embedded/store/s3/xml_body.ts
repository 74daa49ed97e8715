import { bodyChunks, type BodyDecoder } from "@/embedded/store/bodies.ts";
import { startDigest } from "@/lib/std/digests.ts";
import { announcedLength, BodyTooLong, chunksReader, readWhole } from "@/lib/std/body_reader.ts";
import { awsChunked } from "./aws_chunked.ts";
import type { Caller } from "./caller.ts";
import { decodedLength } from "./object_body.ts";
import { MAX_XML_BYTES, readXml, type XmlElement } from "./read_xml.ts";
import { S3Error } from "./s3_error.ts";
import type { S3Request } from "./s3_request.ts";
import { statedDigests, trailingDigests } from "./stated_digests.ts";

/**
 * Receives an XML body of at most `maxBytes` whole, plain or aws-chunked, checks the digests that its sender stated,
 * and reads it.
 *
 * @throws {S3Error} MalformedXML, also where the root element has another name than `root`, or the error of a wrong
 *   digest; BrokenBody
 */
export async function xmlBody(
  request: S3Request,
  caller: Caller,
  root: string | null,
  maxBytes: number = MAX_XML_BYTES,
): Promise<XmlElement> {
  return rootElement(await checkedBody(request, caller, maxBytes), root);
}

/** Does as {@link xmlBody} where the body may be left out; null without one. */
export async function optionalXmlBody(request: S3Request, caller: Caller, root: string): Promise<XmlElement | null> {
  const bytes = await checkedBody(request, caller, MAX_XML_BYTES);
  return bytes.length === 0 ? null : rootElement(bytes, root);
}

/**
 * A body of at most `maxBytes`, whole.
 *
 * @throws {S3Error} MalformedXML, BrokenBody
 */
export async function smallBody(
  request: S3Request,
  maxBytes: number = MAX_XML_BYTES,
  decode: BodyDecoder = (parts) => parts,
): Promise<Uint8Array> {
  // No buffer here is shared between threads.
  const chunks = decode(bodyChunks(request.body, announcedLength(request))) as AsyncIterable<Uint8Array<ArrayBuffer>>;
  try {
    return await readWhole(chunksReader(chunks), { maxBytes });
  } catch (error) {
    throw error instanceof BodyTooLong ? new S3Error("MalformedXML", "The XML of the body is too large") : error;
  }
}

async function checkedBody(request: S3Request, caller: Caller, maxBytes: number): Promise<Uint8Array> {
  const stated = statedDigests(request.headers, caller);
  const size = caller.chunked && decodedLength(request.headers);
  const chunked = caller.chunked && awsChunked(caller.chunked, size ?? 0, stated.trailers);
  const bytes = await smallBody(request, maxBytes, chunked?.decode);
  if (size !== null && bytes.length !== size) throw new S3Error("IncompleteBody");
  for (const { algorithm, hex, code } of [...stated.digests, ...trailingDigests(chunked?.trailers ?? new Map())]) {
    const digest = startDigest(algorithm);
    digest.update(bytes);
    if (digest.hex() !== hex) throw new S3Error(code);
  }
  return bytes;
}

function rootElement(bytes: Uint8Array, root: string | null): XmlElement {
  const document = readXml(bytes);
  if (root !== null && document.name !== root) throw new S3Error("MalformedXML", `The body must be a ${root} element`);
  return document;
}
