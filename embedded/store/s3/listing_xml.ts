import type { Accounts } from "@/embedded/store/accounts.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import type { ListedObject } from "@/embedded/store/objects.ts";
import { permittedBucket } from "./permitted.ts";
import { S3Error } from "./s3_error.ts";
import type { S3Call } from "./s3_operation.ts";
import { checksumKind } from "./upload_checksums.ts";
import { pageSize } from "./upload_parameters.ts";
import { element, fitsXml, xmlResponse, xmlTime } from "./xml.ts";

/** Allows a listing without a delimiter to be in any order, as in Ceph; here it is always in order. */
export const UNORDERED = "allow-unordered";

/** Requests the metadata of each key, as an extension of MinIO; ignored, as in S3. */
export const METADATA = "metadata";

/**
 * Reads what all listings of keys share, for a caller that may list the bucket; `sizeName` is the parameter of the
 * page's size. `isEncoded` is set where the client requests percent-encoded keys.
 *
 * @throws {S3Error} InvalidArgument, or those of an absent bucket and a missing permission
 */
export function pageParameters(call: S3Call, sizeName: "max-keys" | "max-uploads") {
  const { request } = call;
  const bucket = permittedBucket(call, call.bucket, "BROWSE");
  const type = request.parameter("encoding-type");
  if (type !== null && type !== "url") throw new S3Error("InvalidArgument", "encoding-type must be url");
  const delimiter = request.parameter("delimiter") ?? "";
  if (delimiter !== "" && request.parameter(UNORDERED) === "true") {
    throw new S3Error("InvalidArgument", `${UNORDERED} and delimiter do not go together`);
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
export function ownerElements(store: StoreContext): (id: number | null) => string {
  const known = new Map<number, string>();
  return (id) => {
    if (id === null) return "";
    let xml = known.get(id);
    if (xml === undefined) known.set(id, xml = ownerElement(store.accounts, "Owner", id));
    return xml;
  };
}

/** One object of a listing. */
export function contentsElement(
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
export function checksumKindOf(stored: string | null): string {
  if (stored === null) return "";
  // Parsing the JSON of a thousand entries would cost as much as all else of a page. Base64 has no quotes.
  const algorithm = /"(crc[a-z0-9]+|sha[0-9]+)":/.exec(stored)?.[1] ?? null;
  const type = /"type":"([A-Z_]+)"/.exec(stored)?.[1] ?? null;
  const kind = `${algorithm} ${type}`;
  let xml = checksumKinds.get(kind);
  if (xml === undefined) checksumKinds.set(kind, xml = checksumKind(algorithm, type));
  return xml;
}

/** The elements of each algorithm and type, of which there are ten. */
const checksumKinds = new Map<string, string>();

/** The bytes of a key, prefix or delimiter. */
export function keyBytes(text: string): Uint8Array {
  return ENCODER.encode(text);
}

const ENCODER = new TextEncoder();

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
