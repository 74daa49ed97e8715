import type { Caller } from "@/lib/auth/store_credentials.ts";
import { codedError, HttpError } from "@/lib/http/errors.ts";
import { readCappedBytes } from "@/lib/http/upstream.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import { listObjects, MAX_KEYS } from "@/lib/s3/listing.ts";
import { getObject, headObject } from "@/lib/s3/objects.ts";
import { BodyTooLong } from "@/lib/std/body_reader.ts";
import { codedSentence, type CodedText } from "@/lib/std/coded.ts";
import type { ManifestRef } from "./manifest_keys.ts";
import { bagItName } from "./manifest_line.ts";

/** Longest bagit.txt and bag-info.txt that are read, bytes. */
const MAX_TAG_FILE_BYTES = 1024 * 1024;
/** Manifests of a bag that are compared: two for each algorithm, and as many again for other spellings. */
const MAX_MANIFESTS = 16;

/** Where manifests are looked for. */
interface Lookup {
  readonly s3: S3;
  readonly caller: Caller;
}

/**
 * A manifest as a request names it.
 *
 * @param named its root is the folder of its key where it is null
 * @throws HttpError 422 where there is no such object, or its name says an algorithm that is not known
 */
export async function namedManifest(
  lookup: Lookup,
  named: { readonly bucket: string; readonly key: string; readonly root: string | null },
): Promise<ManifestRef> {
  const { bucket, key } = named;
  const folder = folderOf(key);
  const bagIt = bagItName(key.slice(folder.length));
  if (bagIt && bagIt.algorithm === null) throw codedError(422, "manifest_algorithm_unknown");
  const { headers } = await headObject(lookup.s3, lookup.caller, { bucket, key }).catch((error) => {
    const isMissing = error instanceof HttpError && error.status === 404;
    throw isMissing ? codedError(422, "manifest_not_found", { key, bucket }) : error;
  });
  const etag = headers.get("etag");
  const root = named.root ?? folder;
  if (!bagIt) return { bucket, key, root, form: "list", algorithm: null, escapesPercent: false, etag };
  // Reports in the form of BagIt have such a name as well, and are about folders that are no bags.
  const declared = await tagFile(lookup, bucket, `${root}bagit.txt`);
  const form = declared === null && bagIt.form === "bagit" ? "folder" : bagIt.form;
  const escapesPercent = hasEscapedPercents(declared && bagVersion(declared.text));
  return { bucket, key, root, form, algorithm: bagIt.algorithm, escapesPercent, etag };
}

/**
 * Reads what a bag says about itself: the manifests whose algorithm is known, its Payload-Oxum, and what is wrong with it.
 *
 * @throws HttpError 422 where there is no bagit.txt
 */
export async function findBag(lookup: Lookup, bucket: string, root: string) {
  const problems: CodedText[] = [];
  const key = `${root}bagit.txt`;
  const declared = await tagFile(lookup, bucket, key);
  if (declared === null) throw codedError(422, "bag_not_found", { key });
  const version = bagVersion(declared.text);
  if (version === null) problems.push(codedSentence("bag_declaration_invalid"));
  const manifests: ManifestRef[] = [];
  for (const start of ["manifest-", "tagmanifest-"]) {
    const options = { prefix: root + start, delimiter: "/", maxKeys: MAX_KEYS };
    const { objects } = await listObjects(lookup.s3, lookup.caller, bucket, options);
    for (const { Key: key, ETag: etag } of objects) {
      const name = key.slice(root.length);
      const named = bagItName(name);
      if (!named) continue;
      const { algorithm, form } = named;
      if (algorithm !== null && manifests.length < MAX_MANIFESTS) {
        const escapesPercent = hasEscapedPercents(version);
        manifests.push({ bucket, key, root, form, algorithm, escapesPercent, etag });
      } else if (problems.length < MAX_MANIFESTS) {
        const code = algorithm === null ? "bag_algorithm_unknown" : "bag_manifests_too_many";
        problems.push(codedSentence(code, { name }));
      }
    }
  }
  if (!manifests.some(({ form }) => form === "bagit")) problems.push(codedSentence("bag_without_manifest"));
  const info = await tagFile(lookup, bucket, `${root}bag-info.txt`);
  const oxum = info && parsePayloadOxum(info.text);
  if (oxum === "invalid") problems.push(codedSentence("bag_oxum_invalid"));
  return { manifests, oxum: oxum === "invalid" ? null : oxum, problems };
}

/** The prefix of keys that are in the same folder as a key. */
export function folderOf(key: string): string {
  return key.slice(0, key.lastIndexOf("/") + 1);
}

/**
 * The major version of BagIt that bagit.txt declares (RFC 8493, section 2.1.1).
 *
 * @param text null where it is too long to be read
 * @returns null for a text that declares none
 */
export function bagVersion(text: string | null): number | null {
  const declaration =
    /^\uFEFF?BagIt-Version: ([0-9]{1,3})\.[0-9]{1,3}[ \t]*[\r\n]\s*Tag-File-Character-Encoding: \S{1,40}\s*$/;
  const [, major] = declaration.exec(text ?? "") ?? [];
  return major === undefined ? null : Number(major);
}

/** Whether `%25` stands for a percent sign in the manifests of a bag: since version 1.0. */
function hasEscapedPercents(version: number | null): boolean {
  return version === null || version >= 1;
}

/**
 * Bytes and files of the payload of a bag by `Payload-Oxum` of bag-info.txt (RFC 8493, section 2.2.2).
 *
 * @param text null where it is too long to be read
 * @returns null where there is none, `invalid` where it is no pair of numbers or there are several that differ. Numbers
 *   above 2^53 - 1, which no payload has, are none: they could not be compared exactly
 */
export function parsePayloadOxum(text: string | null): { bytes: number; files: number } | null | "invalid" {
  if (text === null) return "invalid";
  const values = new Set(
    text.split(/\r\n|\r|\n/).flatMap((line) => /^payload-oxum\s*:(.*)$/is.exec(line)?.[1].trim() ?? []),
  );
  if (values.size === 0) return null;
  const [, ...numbers] = /^([0-9]{1,16})\.([0-9]{1,16})$/.exec([...values][0]) ?? [];
  const [bytes, files] = numbers.map(Number);
  if (values.size > 1 || !Number.isSafeInteger(bytes) || !Number.isSafeInteger(files)) return "invalid";
  return { bytes, files };
}

/** A small file of a bag, whose text is null where it is too long; null where there is none. */
async function tagFile(
  { s3, caller }: Lookup,
  bucket: string,
  key: string,
): Promise<{ readonly text: string | null } | null> {
  const range = `bytes=0-${MAX_TAG_FILE_BYTES}`;
  try {
    const response = await getObject(s3, caller, { bucket, key }, { range });
    const bytes = await readCappedBytes(response, MAX_TAG_FILE_BYTES + 1);
    return { text: bytes.length > MAX_TAG_FILE_BYTES ? null : new TextDecoder().decode(bytes) };
  } catch (error) {
    if (error instanceof HttpError && error.status === 404) return null;
    if (error instanceof BodyTooLong) return { text: null };
    // A range of nothing: the file is empty.
    if (error instanceof HttpError && error.status === 416) return { text: "" };
    throw error;
  }
}
