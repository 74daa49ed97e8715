import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { afterMarker, type ListedVersion, listVersions } from "@/embedded/store/entry_pages.ts";
import { folded, VERSION_ID_MARKER } from "@/embedded/store/names.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { Accounts } from "@/embedded/store/stored_accounts.ts";
import { compareBytes, type ListedObject } from "@/embedded/store/stored_objects.ts";
import { permittedBucket, type S3Call, signedUser } from "./caller.ts";
import { checksumKind } from "./checksums.ts";
import { keyBytes, pageSize } from "./s3_request.ts";
import { element, fitsXml, xmlResponse, xmlTime } from "./xml.ts";

/** Most buckets of a page (S3 API, ListBuckets). */
const MAX_BUCKETS = 10_000;

/** ListBuckets: those in which the caller has any permission, in pages where the caller requests them. */
export function listBuckets({ store, caller, request }: S3Call): Response {
  const user = signedUser(caller);
  const prefix = request.parameter("prefix") ?? "";
  const limit = bucketPageSize(request.parameter("max-buckets"));
  const after = lastNameIn(request.parameter("continuation-token"));
  const found = store.buckets.visibleTo(user.id).filter((bucket) =>
    bucket.name.startsWith(prefix) && (after === null || folded(bucket.name) > after)
  );
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const entries = page.map((bucket) =>
    `<Bucket>${element("Name", bucket.name)}${element("CreationDate", xmlTime(bucket.createdMs))}</Bucket>`
  );
  return xmlResponse(
    "ListAllMyBucketsResult",
    `<Owner>${element("ID", user.guid)}${element("DisplayName", user.name)}</Owner><Buckets>${
      entries.join("")
    }</Buckets>` + (found.length > page.length && last ? element("ContinuationToken", btoa(folded(last.name))) : "") +
      (prefix && element("Prefix", prefix)),
  );
}

function bucketPageSize(text: string | null): number {
  if (text === null || text === "") return Infinity;
  if (/^[0-9]{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_BUCKETS) return Number(text);
  throw new StoreError("InvalidArgument", `max-buckets must be a whole number from 1 to ${MAX_BUCKETS}`);
}

/** A token is the last name of the page before, folded, as buckets are sorted. */
function lastNameIn(token: string | null): string | null {
  if (token === null || token === "") return null;
  try {
    return atob(token);
  } catch {
    throw new StoreError("InvalidArgument", "The continuation token is not valid");
  }
}

/** ListObjects, version 1: `marker` is the last entry of the page before. */
export function listObjects(call: S3Call): Response {
  const { store, request } = call;
  const marker = request.parameter("marker") ?? "";
  const { bucket, prefix, delimiter, limit, isEncoded, page, isTruncated } = pageOfObjects(call, marker, null);
  const owners = ownerElements(store);
  return listingResponse("ListBucketResult", isEncoded, page.prefixes, ({ encodeKey, encoding }) => [
    element("Name", bucket.name),
    // Plain wherever XML can hold it: botocore decodes all of a listing of this version but this.
    element("Prefix", fitsXml(prefix) ? prefix : encodeKey(prefix)),
    element("Marker", encodeKey(marker)),
    // Without a delimiter the last key of the page is the next marker already.
    isTruncated && delimiter && element("NextMarker", encodeKey(keyText(lastEntry(page)))),
    element("MaxKeys", limit),
    delimiter && element("Delimiter", encodeKey(delimiter)),
    element("IsTruncated", isTruncated),
    encoding,
    ...page.objects.map((object) => contentsElement(object, encodeKey, owners)),
  ]);
}

/** A page of objects after a marker, or from a token on; an empty token is that of the first page. */
function pageOfObjects(call: S3Call, marker: string, token: string | null) {
  const { bytes, ...shared } = pageParameters(call, "max-keys");
  const from = token ? fromToken(token) : afterMarker(keyBytes(marker), bytes.prefix, bytes.delimiter);
  const page = call.store.objects.list(shared.bucket.id, { ...bytes, from, limit: shared.limit });
  return { ...shared, page, isTruncated: page.next !== null && shared.limit > 0 };
}

function lastEntry({ objects, prefixes }: { objects: { key: string }[]; prefixes: Uint8Array[] }): Uint8Array {
  const key = keyBytes(objects.at(-1)?.key ?? "");
  const common = prefixes.at(-1) ?? new Uint8Array();
  return compareBytes(key, common) > 0 ? key : common;
}

/** ListObjectsV2 */
export function listObjectsV2(call: S3Call): Response {
  const { store, request } = call;
  const startAfter = request.parameter("start-after") ?? "";
  const token = request.parameter("continuation-token");
  const { bucket, prefix, delimiter, limit, isEncoded, page, isTruncated } = pageOfObjects(call, startAfter, token);
  const owners = request.parameter("fetch-owner") === "true" ? ownerElements(store) : () => "";
  return listingResponse("ListBucketResult", isEncoded, page.prefixes, ({ encodeKey, encoding }) => [
    element("Name", bucket.name),
    element("Prefix", encodeKey(prefix)),
    delimiter && element("Delimiter", encodeKey(delimiter)),
    element("MaxKeys", limit),
    element("KeyCount", page.objects.length + page.prefixes.length),
    element("IsTruncated", isTruncated),
    token !== null && element("ContinuationToken", token),
    isTruncated && page.next && element("NextContinuationToken", toToken(page.next)),
    startAfter && element("StartAfter", encodeKey(startAfter)),
    encoding,
    ...page.objects.map((object) => contentsElement(object, encodeKey, owners)),
  ]);
}

/** A token is the first key of the next page, in base64url. */
function toToken(key: Uint8Array): string {
  return btoa(String.fromCharCode(...key)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

function fromToken(token: string): Uint8Array {
  try {
    const bytes = atob(token.replaceAll("-", "+").replaceAll("_", "/"));
    const key = Uint8Array.from(bytes, (character) => character.charCodeAt(0));
    if (key.length > 0 && toToken(key) === token) return key;
  } catch {
    // Not base64: rejected below like any token that was not issued here.
  }
  throw new StoreError("InvalidArgument", "The continuation token is not valid");
}

/** ListObjectVersions */
export function listObjectVersions(call: S3Call): Response {
  const { store, request } = call;
  const { bucket, prefix, delimiter, bytes, limit, isEncoded } = pageParameters(call, "max-keys");
  const keyMarker = request.parameter("key-marker") ?? "";
  const versionMarker = request.parameter("version-id-marker") || null;
  if (versionMarker !== null && keyMarker === "") {
    throw new StoreError("InvalidArgument", "version-id-marker needs a key-marker");
  }
  if (versionMarker !== null && !MARKER.test(versionMarker)) {
    throw new StoreError("InvalidArgument", "version-id-marker is not a version id");
  }
  const { entries, prefixes, next } = listVersions(store.index, bucket.id, {
    ...bytes,
    keyMarker: keyBytes(keyMarker),
    versionMarker,
    limit,
  });
  const following = limit > 0 ? next : null;
  const owners = ownerElements(store);
  return listingResponse("ListVersionsResult", isEncoded, prefixes, ({ encodeKey, encoding }) => [
    element("Name", bucket.name),
    element("Prefix", encodeKey(prefix)),
    element("KeyMarker", encodeKey(keyMarker)),
    element("VersionIdMarker", versionMarker ?? ""),
    following && element("NextKeyMarker", encodeKey(keyText(following.key))),
    following?.entry && element("NextVersionIdMarker", following.entry.version),
    element("MaxKeys", limit),
    delimiter && element("Delimiter", encodeKey(delimiter)),
    element("IsTruncated", following !== null),
    encoding,
    ...entries.map((version) => versionElement(version, encodeKey, owners)),
  ]);
}

const MARKER = new RegExp(VERSION_ID_MARKER);

function versionElement(
  version: ListedVersion,
  encodeKey: (key: string) => string,
  owner: (id: number | null) => string,
): string {
  const named = `${element("Key", encodeKey(keyText(version.key)))}${element("VersionId", version.version)}` +
    `${element("IsLatest", version.isLatest === 1)}${element("LastModified", xmlTime(version.modifiedMs))}`;
  if (version.isMarker) return `<DeleteMarker>${named}${owner(version.owner)}</DeleteMarker>`;
  return `<Version>${named}${element("ETag", `"${version.etag}"`)}${checksumKindOf(version.checksums)}` +
    `${element("Size", version.size)}${element("StorageClass", version.storageClass ?? "STANDARD")}` +
    `${owner(version.owner)}</Version>`;
}

/** Allows a listing without a delimiter to be in any order, as in Ceph; here it is always in order. */
export const UNORDERED = "allow-unordered";

/** Requests the metadata of each key, as an extension of MinIO; ignored, as in S3. */
export const METADATA = "metadata";

/**
 * Reads what all listings of keys share, for a caller that may list the bucket; `sizeName` is the parameter of the
 * page's size. `isEncoded` is set where the client requests percent-encoded keys.
 *
 * @throws {StoreError} InvalidArgument, or those of an absent bucket and a missing permission
 */
export function pageParameters(call: S3Call, sizeName: "max-keys" | "max-uploads") {
  const { request } = call;
  const bucket = permittedBucket(call, call.bucket, "BROWSE");
  const type = request.parameter("encoding-type");
  if (type !== null && type !== "url") throw new StoreError("InvalidArgument", "encoding-type must be url");
  const delimiter = request.parameter("delimiter") ?? "";
  if (delimiter !== "" && request.parameter(UNORDERED) === "true") {
    throw new StoreError("InvalidArgument", `${UNORDERED} and delimiter do not go together`);
  }
  const prefix = request.parameter("prefix") ?? "";
  const bytes = { prefix: keyBytes(prefix), delimiter: keyBytes(delimiter) };
  return { bucket, prefix, delimiter, bytes, limit: pageSize(request, sizeName), isEncoded: type !== null };
}

/** How a listing writes keys and prefixes, and the element that names their encoding; "" where they have none. */
interface KeyEncoding {
  encodeKey: (key: string) => string;
  encoding: string;
}

/**
 * The response of a listing: its content, then the common prefixes of the page. Keys are percent-encoded where the client requests it, and also where one of the page has
 * characters that XML 1.0 cannot hold, not even as a reference: strict parsers would reject the whole page, and a
 * replacement would name an object that is not there. The element EncodingType announces it in both cases.
 */
export function listingResponse(
  root: string,
  isEncoded: boolean,
  prefixes: readonly Uint8Array[],
  content: (keys: KeyEncoding) => readonly (string | false | null | undefined)[],
): Response {
  const all = (keys: KeyEncoding) => [
    ...content(keys),
    ...prefixes.map((prefix) =>
      `<CommonPrefixes>${element("Prefix", keys.encodeKey(keyText(prefix)))}</CommonPrefixes>`
    ),
  ];
  const url = () => all({ encodeKey: urlEncoded, encoding: element("EncodingType", "url") });
  let fits = !isEncoded;
  const encodeKey = (key: string) => {
    fits &&= fitsXml(key);
    return key;
  };
  const plain = fits ? all({ encodeKey, encoding: "" }) : [];
  return xmlResponse(root, (fits ? plain : url()).filter((part) => part).join(""));
}

/** A key that is its own encoding, as most are. */
const PLAIN_KEY = /^[A-Za-z0-9\-_.!~*'()\/]*$/;

function urlEncoded(key: string): string {
  return PLAIN_KEY.test(key) ? key : encodeURIComponent(key).replaceAll("%2F", "/");
}

/** Owner elements of one page: few users own many objects, so each is looked up once. */
function ownerElements(store: StoreContext): (id: number | null) => string {
  const known = new Map<number, string>();
  return (id) => {
    if (id === null) return "";
    let xml = known.get(id);
    if (xml === undefined) known.set(id, xml = ownerElement(store.accounts, "Owner", id));
    return xml;
  };
}

/** One object of a listing. */
function contentsElement(
  object: ListedObject,
  encodeKey: (key: string) => string,
  owner: (id: number | null) => string,
): string {
  // Only the key is text from outside: escaping the rest would double the cost of a page.
  return `<Contents>${element("Key", encodeKey(object.key))}` +
    `<LastModified>${xmlTime(object.modifiedMs)}</LastModified><ETag>&quot;${object.etag}&quot;</ETag>` +
    checksumKindOf(object.checksums) +
    `<Size>${object.size}</Size><StorageClass>${object.storageClass ?? "STANDARD"}</StorageClass>${
      owner(object.owner)
    }</Contents>`;
}

/** The elements for the checksums of an entry: their algorithm and type. */
function checksumKindOf(stored: string | null): string {
  if (stored === null) return "";
  // Parsing the JSON of a thousand entries would cost as much as all else of a page. Base64 has no quotes.
  const algorithm = /"(crc[a-z0-9]+|sha[0-9]+)":/.exec(stored)?.[1] ?? null;
  const type = /"type":"([A-Z_]+)"/.exec(stored)?.[1] ?? null;
  return checksumKind(algorithm, type);
}

/** The text of a key; bytes that are no whole character, as a cut prefix may end in, become U+FFFD. */
export function keyText(key: Uint8Array): string {
  return UTF8.decode(key);
}

const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

/** A user as S3's XML shows one; "" for no owner, and for a deleted user. */
export function ownerElement(accounts: Accounts, name: "Owner" | "Initiator", id: number | null): string {
  const user = id === null ? null : accounts.userById(id);
  return user ? `<${name}>${element("ID", user.guid)}${element("DisplayName", user.name)}</${name}>` : "";
}
