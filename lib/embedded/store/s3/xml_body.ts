import { BrokenBody } from "@/lib/embedded/store/bodies.ts";
import { startDigest } from "@/lib/embedded/store/digests.ts";
import type { Caller } from "@/lib/embedded/store/s3/caller.ts";
import { MAX_XML_BYTES, readXml, type XmlElement } from "@/lib/embedded/store/s3/read_xml.ts";
import { S3Error } from "@/lib/embedded/store/s3/s3_error.ts";
import type { S3Request } from "@/lib/embedded/store/s3/s3_request.ts";
import { statedDigests } from "@/lib/embedded/store/s3/stated_digests.ts";

/**
 * Receives an XML body of at most `maxBytes` whole, checks the digests that its sender stated, and reads it. Throws
 * {@link S3Error} MalformedXML, also where the root element has another name, or what a wrong digest is; {@link BrokenBody}.
 */
export async function xmlBody(
  request: S3Request,
  caller: Caller,
  root: string,
  maxBytes: number = MAX_XML_BYTES,
): Promise<XmlElement> {
  if (caller.chunked) throw new S3Error("NotImplemented", "An XML body cannot be sent in pieces");
  const { digests } = statedDigests(request.headers, caller);
  const bytes = await smallBody(request.body, maxBytes);
  for (const { algorithm, hex, code } of digests) {
    const digest = startDigest(algorithm);
    digest.update(bytes);
    if (digest.hex() !== hex) throw new S3Error(code);
  }
  const document = readXml(bytes);
  if (document.name !== root) throw new S3Error("MalformedXML", `The body must be a ${root} element`);
  return document;
}

/** The text of the one child of a name; null where there is none. Throws {@link S3Error} MalformedXML for several. */
export function childText(element: XmlElement, name: string): string | null {
  const found = element.children.filter((child) => child.name === name);
  if (found.length > 1 || found[0]?.children.length) throw new S3Error("MalformedXML", `${name} must be one text`);
  return found[0]?.text ?? null;
}

/** A body of at most `maxBytes`, whole. Throws {@link S3Error} MalformedXML, {@link BrokenBody}. */
export async function smallBody(
  stream: ReadableStream<Uint8Array> | null,
  maxBytes: number = MAX_XML_BYTES,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(maxBytes);
  let size = 0;
  const reader = stream?.getReader();
  while (reader) {
    const { done, value } = await reader.read().catch((cause) => {
      throw new BrokenBody("the sender broke off", { cause });
    });
    if (done) break;
    if (size + value.length > bytes.length) {
      await reader.cancel().catch(() => {});
      throw new S3Error("MalformedXML", "The XML of the body is too large");
    }
    bytes.set(value, size);
    size += value.length;
  }
  return bytes.subarray(0, size);
}
