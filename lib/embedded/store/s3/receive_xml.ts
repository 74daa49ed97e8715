import { createHash } from "node:crypto";
import type { Caller } from "@/lib/embedded/store/s3/caller.ts";
import { readXml, type XmlElement } from "@/lib/embedded/store/s3/read_xml.ts";
import { S3Error } from "@/lib/embedded/store/s3/s3_error.ts";
import type { S3Request } from "@/lib/embedded/store/s3/s3_request.ts";
import { smallBody } from "@/lib/embedded/store/s3/xml_body.ts";

/**
 * Receives the XML body of a request, checked against the digest under its signature and its Content-MD5: a
 * checksum header of this request is of the object, not of the body. Throws
 * {@link S3Error} MalformedXML, XAmzContentSHA256Mismatch or BadDigest.
 */
export async function receiveXml(request: S3Request, caller: Caller): Promise<XmlElement> {
  const bytes = await smallBody(request.body);
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  if (caller.payloadSha256 !== null && sha256 !== caller.payloadSha256) throw new S3Error("XAmzContentSHA256Mismatch");
  const md5 = request.headers.get("content-md5");
  if (md5 !== null && md5 !== createHash("md5").update(bytes).digest("base64")) throw new S3Error("BadDigest");
  return readXml(bytes);
}
