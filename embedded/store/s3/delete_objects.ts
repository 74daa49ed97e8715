import type { Result } from "@/embedded/store/changes.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { MAX_DELETIONS } from "@/embedded/store/writer/writer_client.ts";
import { bucketByDataAccess, permittedBucket } from "./permitted.ts";
import { keyBytes } from "./listing_xml.ts";
import { childText, childWord, type XmlElement } from "./read_xml.ts";
import { asS3Error } from "./as_s3_error.ts";
import { checksumAlgorithm } from "./checksums.ts";
import { unquotedEtag } from "./conditions.ts";
import { S3Error } from "./s3_error.ts";
import type { S3Call } from "./s3_operation.ts";
import { MAX_KEY_BYTES } from "./s3_request.ts";
import { element, xmlResponse } from "./xml.ts";
import { xmlBody } from "./xml_body.ts";

/** Most keys of one request (S3 API, DeleteObjects). */
const MAX_OBJECTS = 1000;

interface Wanted {
  key: string;
  version: string | null;
  etag: string | null;
  rejected: S3Error | null;
}

/** DeleteObjects: each key has its own outcome, and an absent one is no error, unless a condition names its ETag. */
export async function deleteObjects(call: S3Call): Promise<Response> {
  const { store, caller, request, bucket: name } = call;
  const bucket = permittedBucket(call, name, "DELETE");
  if (!carriesDigest(request.headers)) {
    throw new S3Error("InvalidRequest", "The header Content-MD5 or one of x-amz-checksum- is required");
  }
  const document = await xmlBody(request, caller, "Delete");
  const isQuiet = childWord(document, "Quiet") === "true";
  const wanted = document.children.filter((child) => child.name === "Object").map(wantedOf);
  if (wanted.length === 0 || wanted.length > MAX_OBJECTS) {
    throw new S3Error("MalformedXML", `The body must name 1 to ${MAX_OBJECTS} objects`);
  }
  if (wanted.some(({ version }) => version !== null)) bucketByDataAccess(call, name, "DELETE");
  const allowed = wanted.filter(({ rejected }) => !rejected);
  const outcomes = (await deleteAll(store, bucket.id, allowed)).values();
  const entries = wanted.map((one) => {
    const outcome = one.rejected ?? outcomes.next().value;
    if (!outcome || outcome instanceof S3Error) return errorElement(one, outcome ?? new S3Error("InternalError"));
    return isQuiet ? "" : deletedElement(one, outcome);
  });
  return xmlResponse("DeleteResult", entries.join(""));
}

/** Deletes objects, some at a time, so that other changes do not wait for all of them. */
async function deleteAll(
  store: StoreContext,
  bucket: number,
  objects: readonly Wanted[],
): Promise<(Result<"deleteObject"> | S3Error)[]> {
  const outcomes: (Result<"deleteObject"> | S3Error)[] = [];
  for (let at = 0; at < objects.length; at += MAX_DELETIONS) {
    const some = objects.slice(at, at + MAX_DELETIONS);
    const deletions = some.map(({ key, version, etag }) => ({ key: keyBytes(key), version, ifMatch: etag }));
    try {
      const result = await store.writer.change("deleteObjects", { bucket, objects: deletions, atMs: store.now() });
      // One error for all that a fault ended, since each is logged.
      let failed: S3Error | undefined;
      for (const one of result.outcomes) {
        if ("fault" in one) {
          failed ??= asS3Error(new Error(`the store could not commit a deletion: ${one.fault}`));
          outcomes.push(failed);
        } else outcomes.push("error" in one ? asS3Error(new StoreError(one.error)) : one);
      }
    } catch (error) {
      const failed = asS3Error(error);
      for (const _ of some) outcomes.push(failed);
    }
  }
  return outcomes;
}

function carriesDigest(headers: Headers): boolean {
  return headers.has("content-md5") || headers.has("x-amz-trailer") ||
    [...headers.keys()].some((name) => checksumAlgorithm(name) !== null);
}

function wantedOf(object: XmlElement): Wanted {
  const key = childText(object, "Key");
  if (key === null) throw new S3Error("MalformedXML", "An Object must have a Key");
  const version = childText(object, "VersionId");
  const etag = childText(object, "ETag");
  const unknown = object.children.find(({ name }) => !["Key", "VersionId", "ETag"].includes(name));
  let rejected: S3Error | null = null;
  if (key === "") rejected = new S3Error("InvalidArgument", "Key must not be empty");
  else if (keyBytes(key).length > MAX_KEY_BYTES) rejected = new S3Error("KeyTooLongError");
  else if (version === "") rejected = new S3Error("InvalidArgument", "VersionId must not be empty");
  else if (unknown) rejected = new S3Error("NotImplemented", `The condition ${unknown.name} is not provided`);
  return { key, version, etag: etag === null ? null : unquotedEtag(etag), rejected };
}

function deletedElement({ key, version }: Wanted, result: Result<"deleteObject">): string {
  const marker = result.isMarker && result.version !== null
    ? `<DeleteMarker>true</DeleteMarker>${element("DeleteMarkerVersionId", result.version)}`
    : "";
  return `<Deleted>${element("Key", key)}${version === null ? "" : element("VersionId", version)}${marker}</Deleted>`;
}

function errorElement({ key, version }: Wanted, error: S3Error): string {
  return `<Error>${element("Key", key)}${version ? element("VersionId", version) : ""}${element("Code", error.code)}` +
    `${element("Message", error.message)}</Error>`;
}
