import type { Caller } from "./caller.ts";
import type { XmlElement } from "./read_xml.ts";
import type { S3Request } from "./s3_request.ts";
import { xmlBody } from "./xml_body.ts";

/**
 * Receives the XML body of a complete as {@link xmlBody} does, but for the checksums of its headers: those are of the
 * object that is made, not of the body that asks for it. A checksum behind the body is the body's.
 * The root may have any name. Throws as xmlBody does.
 */
export function receiveXml(request: S3Request, caller: Caller): Promise<XmlElement> {
  const headers = new Headers(request.headers);
  for (const name of request.headers.keys()) if (OF_THE_OBJECT.test(name)) headers.delete(name);
  return xmlBody({ ...request, headers }, caller, null);
}

const OF_THE_OBJECT = /^x-amz-(?:checksum-|sdk-checksum-algorithm$)/;
