import type { ObjectPart, StoredObject } from "@/embedded/store/objects.ts";
import { checksumAlgorithmOf, type Checksums } from "./checksums.ts";
import { findObject, versionHeader, versionParameter } from "./object_version.ts";
import { bucketAccess, permittedObject } from "./permitted.ts";
import { S3Error } from "./s3_error.ts";
import type { S3Call } from "./s3_operation.ts";
import type { S3Request } from "./s3_request.ts";
import { storageClassOf } from "./stored_headers.ts";
import { checksumElements } from "./upload_checksums.ts";
import { element, xmlResponse } from "./xml.ts";

/** The attributes that may be requested, in the order of the response. */
const ATTRIBUTES: Readonly<Record<string, (object: StoredObject, request: S3Request) => string>> = {
  ETag: ({ etag }) => element("ETag", etag),
  Checksum: ({ checksums }) => checksums ? `<Checksum>${checksumElements(withoutPartCount(checksums))}</Checksum>` : "",
  ObjectParts: partsElement,
  StorageClass: ({ headers }) => element("StorageClass", storageClassOf(headers)),
  ObjectSize: ({ size }) => element("ObjectSize", size),
};

/** Most parts of one page. */
const MAX_PAGE = 1000;

/** GetObjectAttributes: only the requested attributes, and of them only those that the object has. */
export function getObjectAttributes(call: S3Call): Response {
  const { store, request, key } = call;
  const access = bucketAccess(call, call.bucket);
  const requested = (request.headers.get("x-amz-object-attributes") ?? "").split(",").map((attribute) =>
    attribute.trim()
  );
  if (!requested.every((attribute) => Object.hasOwn(ATTRIBUTES, attribute))) {
    throw new S3Error(
      "InvalidArgument",
      `x-amz-object-attributes must name some of ${Object.keys(ATTRIBUTES).join(", ")}`,
    );
  }
  const version = versionParameter(request);
  const object = permittedObject(access, "READ", () => findObject(store, access.bucket, key, version));
  const content = Object.entries(ATTRIBUTES).map(([attribute, show]) =>
    requested.includes(attribute) ? show(object, request) : ""
  );
  return xmlResponse("GetObjectAttributesResponse", content.join(""), {
    "last-modified": new Date(object.modifiedMs).toUTCString(),
    ...versionHeader(object.version),
  });
}

/** A composite checksum without the number of its parts, as S3 shows it here; ObjectParts has that number. */
function withoutPartCount(checksums: Checksums): Checksums {
  return Object.fromEntries(Object.entries(checksums).map(([name, value]) => [name, value.replace(/-[0-9]+$/, "")]));
}

/** The parts of an object, a page at a time, each with its size, and its checksum where the upload had an algorithm. */
function partsElement(object: StoredObject, { headers }: S3Request): string {
  const parts = object.parts();
  if (!parts) return "";
  const algorithm = checksumAlgorithmOf(object);
  const marker = headers.get("x-amz-part-number-marker");
  const after = wholeNumber(marker ?? "0");
  if (after === null) throw new S3Error("InvalidArgument", "x-amz-part-number-marker must be a whole number from 0");
  // As in S3, an invalid size counts as absent.
  const limit = Math.min(wholeNumber(headers.get("x-amz-max-parts") ?? "") ?? MAX_PAGE, MAX_PAGE);
  const page = parts.slice(after, after + limit);
  const content = [
    element("IsTruncated", limit > 0 && after + limit < parts.length),
    element("MaxParts", limit),
    element("NextPartNumberMarker", after + page.length),
    element("PartNumberMarker", after),
    ...page.map((part, i) => partElement(part, after + i + 1, algorithm)),
    element("PartsCount", parts.length),
  ];
  return `<ObjectParts>${content.join("")}</ObjectParts>`;
}

function partElement({ size, checksum }: ObjectPart, number: number, algorithm: string | null): string {
  const checksums = algorithm === null || checksum === undefined ? {} : { [algorithm]: checksum };
  return `<Part>${checksumElements(checksums)}${element("PartNumber", number)}${element("Size", size)}</Part>`;
}

function wholeNumber(text: string): number | null {
  return /^[0-9]{1,10}$/.test(text) ? Number(text) : null;
}
