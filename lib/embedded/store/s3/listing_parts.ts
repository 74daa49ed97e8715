import type { ListedObject } from "@/lib/embedded/store/objects.ts";
import { S3Error } from "@/lib/embedded/store/s3/s3_error.ts";
import { element, xmlTime } from "@/lib/embedded/store/s3/xml.ts";
import type { S3Request } from "@/lib/embedded/store/s3/s3_request.ts";
import { checksumKind } from "@/lib/embedded/store/s3/upload_checksums.ts";
import { pageSize } from "@/lib/embedded/store/s3/upload_parameters.ts";
import type { StoreParts } from "@/lib/embedded/store/store_parts.ts";

/** How keys are shown under an encoding-type. Throws {@link S3Error} InvalidArgument. */
function keyEncoding(type: string | null): (key: string) => string {
  if (type === null) return (key) => key;
  if (type !== "url") throw new S3Error("InvalidArgument", "encoding-type must be url");
  return (key) => encodeURIComponent(key).replaceAll("%2F", "/");
}

/** What all listings of keys read of their query. */
export interface PageParameters {
  prefix: string;
  delimiter: string;
  limit: number;
  shown: (key: string) => string;
  /** The element that tells the encoding of the answer; "" where it has none. */
  encoding: string;
}

/** Reads what all listings of keys share; `sizeName` is the parameter of the page's size. Throws {@link S3Error} InvalidArgument. */
export function pageParameters(request: S3Request, sizeName: "max-keys" | "max-uploads"): PageParameters {
  const type = request.parameter("encoding-type");
  return {
    prefix: request.parameter("prefix") ?? "",
    delimiter: request.parameter("delimiter") ?? "",
    limit: pageSize(request, sizeName),
    shown: keyEncoding(type),
    encoding: type === null ? "" : element("EncodingType", type),
  };
}

/** Owner elements of one page: few users own many objects, so each is looked up once. */
export function ownerElements(store: StoreParts): (id: number | null) => string {
  const known = new Map<number, string>();
  return (id) => {
    if (id === null) return "";
    let xml = known.get(id);
    if (xml === undefined) {
      const user = store.accounts.userById(id);
      xml = user ? `<Owner>${element("ID", user.guid)}${element("DisplayName", user.name)}</Owner>` : "";
      known.set(id, xml);
    }
    return xml;
  };
}

/** One object of a listing. */
export function contentsElement(
  object: ListedObject,
  shown: (key: string) => string,
  owner: (id: number | null) => string,
): string {
  // Only the key is text from outside: escaping the rest would double the cost of a page.
  return `<Contents>${element("Key", shown(keyText(object.key)))}` +
    `<LastModified>${xmlTime(object.modifiedMs)}</LastModified><ETag>&quot;${object.etag}&quot;</ETag>` +
    listedChecksums(object.checksums) +
    `<Size>${object.size}</Size><StorageClass>STANDARD</StorageClass>${owner(object.owner)}</Contents>`;
}

/** What a listing tells of the checksums of an entry, as they are kept: their algorithm and what they are of. */
export function listedChecksums(kept: string | null): string {
  if (kept === null) return "";
  // Parsing the JSON of a thousand entries would cost as much as all else of a page. Base64 has no quotes.
  const algorithm = /"(crc[a-z0-9]+|sha[0-9]+)":/.exec(kept)?.[1] ?? null;
  const type = /"type":"([A-Z_]+)"/.exec(kept)?.[1] ?? null;
  const kind = `${algorithm} ${type}`;
  let xml = checksumKinds.get(kind);
  if (xml === undefined) checksumKinds.set(kind, xml = checksumKind(algorithm, type));
  return xml;
}

/** The elements of each algorithm and type, of which there are ten. */
const checksumKinds = new Map<string, string>();

/** One common prefix of a listing. */
export function commonPrefixElement(prefix: Uint8Array, shown: (key: string) => string): string {
  return `<CommonPrefixes>${element("Prefix", shown(keyText(prefix)))}</CommonPrefixes>`;
}

/** The bytes of a key, prefix or delimiter. */
export function keyBytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** The text of a key; bytes that are no whole character, as a cut prefix may end in, become U+FFFD. */
export function keyText(key: Uint8Array): string {
  return UTF8.decode(key);
}

const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });
