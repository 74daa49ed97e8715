import type { Deleted, Deletion } from "@/embedded/store/changes.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { MAX_DELETIONS } from "@/embedded/store/writer/writer_client.ts";
import type { S3Call } from "./caller.ts";
import { checksumAlgorithm } from "./checksums.ts";
import { bucketByDataAccess, permittedBucket } from "./permitted.ts";
import { versionHeader, versionParameter } from "./read_object.ts";
import { xmlBody } from "./received_body.ts";
import { rejectHeaders, unquotedEtag } from "./request_headers.ts";
import { keyBytes, MAX_KEY_BYTES } from "./s3_request.ts";
import { childText, childWord, element, toStoreError, type XmlElement, xmlResponse } from "./xml.ts";

/** Conditions that S3 does not have for deletions: ignoring them would be worse than an error. */
const UNSUPPORTED = /^if-(?:none-match|modified-since|unmodified-since)$/;

/** DeleteObject: an absent key is no error, unless a condition names its ETag. */
export async function deleteObject(call: S3Call): Promise<Response> {
  const { store, request, bucket: name, key } = call;
  const wanted = versionParameter(request);
  const bucket = (wanted === null ? permittedBucket : bucketByDataAccess)(call, name, "DELETE");
  rejectHeaders(request.headers, UNSUPPORTED);
  const ifMatch = request.headers.get("if-match");
  const deletion = { key: keyBytes(key), version: wanted, ifMatch: ifMatch === null ? null : unquotedEtag(ifMatch) };
  const [outcome] = await deleteAll(store, bucket.id, [deletion]);
  if (outcome instanceof StoreError) throw outcome;
  const { version, isMarker } = outcome;
  const headers = { ...versionHeader(version), ...(isMarker ? { "x-amz-delete-marker": "true" } : {}) };
  return new Response(null, { status: 204, headers });
}

/** Most keys of one request (S3 API, DeleteObjects). */
const MAX_OBJECTS = 1000;

interface Wanted {
  key: string;
  version: string | null;
  etag: string | null;
  rejected: StoreError | null;
}

/** DeleteObjects: each key has its own outcome, and an absent one is no error, unless a condition names its ETag. */
export async function deleteObjects(call: S3Call): Promise<Response> {
  const { store, caller, request, bucket: name } = call;
  const bucket = permittedBucket(call, name, "DELETE");
  if (!carriesDigest(request.headers)) {
    throw new StoreError("InvalidRequest", "The header Content-MD5 or one of x-amz-checksum- is required");
  }
  const document = await xmlBody(request, caller, "Delete");
  const isQuiet = childWord(document, "Quiet") === "true";
  const wanted = document.children.filter((child) => child.name === "Object").map(wantedOf);
  if (wanted.length === 0 || wanted.length > MAX_OBJECTS) {
    throw new StoreError("MalformedXML", `The body must name 1 to ${MAX_OBJECTS} objects`);
  }
  if (wanted.some(({ version }) => version !== null)) bucketByDataAccess(call, name, "DELETE");
  const allowed = wanted.filter(({ rejected }) => !rejected)
    .map(({ key, version, etag }) => ({ key: keyBytes(key), version, ifMatch: etag }));
  const outcomes = (await deleteAll(store, bucket.id, allowed)).values();
  const entries = wanted.map((one) => {
    const outcome = one.rejected ?? outcomes.next().value;
    if (!outcome || outcome instanceof StoreError) return errorElement(one, outcome ?? new StoreError("InternalError"));
    return isQuiet ? "" : deletedElement(one, outcome);
  });
  return xmlResponse("DeleteResult", entries.join(""));
}

/** Deletes objects, some at a time, so that other changes do not wait for all of them. */
async function deleteAll(
  store: StoreContext,
  bucket: number,
  objects: readonly Deletion[],
): Promise<(Deleted | StoreError)[]> {
  const outcomes: (Deleted | StoreError)[] = [];
  for (let at = 0; at < objects.length; at += MAX_DELETIONS) {
    const some = objects.slice(at, at + MAX_DELETIONS);
    try {
      const result = await store.writer.change("deleteObjects", { bucket, objects: some, atMs: store.now() });
      // One error for all that a fault ended, since each is logged.
      let failed: StoreError | undefined;
      for (const one of result.outcomes) {
        if ("fault" in one) {
          failed ??= toStoreError(new Error(`the store could not commit a deletion: ${one.fault}`));
          outcomes.push(failed);
        } else outcomes.push("error" in one ? new StoreError(one.error) : one);
      }
    } catch (error) {
      const failed = toStoreError(error);
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
  if (key === null) throw new StoreError("MalformedXML", "An Object must have a Key");
  const version = childText(object, "VersionId");
  const etag = childText(object, "ETag");
  const unknown = object.children.find(({ name }) => !["Key", "VersionId", "ETag"].includes(name));
  let rejected: StoreError | null = null;
  if (key === "") rejected = new StoreError("InvalidArgument", "Key must not be empty");
  else if (keyBytes(key).length > MAX_KEY_BYTES) rejected = new StoreError("KeyTooLongError");
  else if (version === "") rejected = new StoreError("InvalidArgument", "VersionId must not be empty");
  else if (unknown) rejected = new StoreError("NotImplemented", `The condition ${unknown.name} is not provided`);
  return { key, version, etag: etag === null ? null : unquotedEtag(etag), rejected };
}

function deletedElement({ key, version }: Wanted, result: Deleted): string {
  const marker = result.isMarker && result.version !== null
    ? `<DeleteMarker>true</DeleteMarker>${element("DeleteMarkerVersionId", result.version)}`
    : "";
  return `<Deleted>${element("Key", key)}${version === null ? "" : element("VersionId", version)}${marker}</Deleted>`;
}

function errorElement({ key, version }: Wanted, error: StoreError): string {
  const named = element("Key", key) + (version ? element("VersionId", version) : "");
  return `<Error>${named}${element("Code", error.sentCode)}${element("Message", error.message)}</Error>`;
}
