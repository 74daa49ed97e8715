import type { Caller } from "@/lib/auth/store_credentials.ts";
import { HttpError, unprocessable } from "@/lib/http/errors.ts";
import { readCappedBytes } from "@/lib/http/read_capped.ts";
import type { S3 } from "@/lib/s3/client.ts";
import { listObjects, MAX_KEYS } from "@/lib/s3/listing.ts";
import { getObject, headObject } from "@/lib/s3/objects.ts";
import { BodyTooLong } from "@/lib/std/bounded_reader.ts";
import type { CodedText } from "@/lib/std/coded.ts";
import { escapesPercent, parseBagDeclaration, parsePayloadOxum } from "./bag_tags.ts";
import { bagItName } from "./manifest_line.ts";
import type { ManifestRef } from "./manifest_keys.ts";

/** Longest bagit.txt and bag-info.txt that are read, bytes. */
const MAX_TAG_FILE_BYTES = 1024 * 1024;
/** Manifests of a bag that are compared: two for each algorithm, and as many again for other spellings. */
const MAX_MANIFESTS = 16;

/** Where manifests are looked for. */
interface Lookup {
  readonly s3: S3;
  readonly caller: Caller;
}

/** A manifest as a request names it. */
interface NamedManifest {
  readonly bucket: string;
  readonly key: string;
  /** Null: the folder of its key. */
  readonly root: string | null;
}

/** @throws HttpError 422 where there is no such object, or its name says an algorithm that is not known */
export async function namedManifest({ s3, caller }: Lookup, named: NamedManifest): Promise<ManifestRef> {
  const { bucket, key } = named;
  const folder = folderOf(key);
  const bagIt = bagItName(key.slice(folder.length));
  if (bagIt && bagIt.algorithm === null) {
    throw unprocessable("manifest: its name says an algorithm other than md5, sha1, sha256 and sha512", {
      code: "manifest_algorithm_unknown",
    });
  }
  const etag = await etagOf({ s3, caller }, bucket, key);
  if (etag === undefined) {
    throw unprocessable(`manifest: there is no object '${key}' in bucket '${bucket}'`, {
      code: "manifest_not_found",
      params: { key, bucket },
    });
  }
  const root = named.root ?? folder;
  const algorithm = bagIt?.algorithm ?? null;
  if (!bagIt) return { bucket, key, root, form: "list", algorithm, escapesPercent: false, etag };
  // What BagIt names is as well what this program writes about a folder that is no bag.
  const declared = await tagFile({ s3, caller }, bucket, `${root}bagit.txt`);
  const declaration = declared === null || declared === "too long" ? null : parseBagDeclaration(declared);
  const form = declared === null && bagIt.form === "bagit" ? "folder" : bagIt.form;
  return { bucket, key, root, form, algorithm, escapesPercent: !declaration || escapesPercent(declaration), etag };
}

/** What a bag says about itself. */
interface FoundBag {
  /** Those whose algorithm is known. */
  readonly manifests: readonly ManifestRef[];
  readonly oxum: { readonly bytes: number; readonly files: number } | null;
  /** What is wrong with it. */
  readonly problems: readonly CodedText[];
}

/** Reads what a bag says about itself. @throws HttpError 422 where there is no bagit.txt */
export async function findBag(lookup: Lookup, bucket: string, root: string): Promise<FoundBag> {
  const problems: CodedText[] = [];
  const declared = await tagFile(lookup, bucket, `${root}bagit.txt`);
  if (declared === null) {
    throw unprocessable(`bag: there is no object '${root}bagit.txt', so the prefix is no bag`, {
      code: "bag_not_found",
      params: { key: `${root}bagit.txt` },
    });
  }
  const declaration = declared === "too long" ? null : parseBagDeclaration(declared);
  if (!declaration) {
    problems.push({
      text: "bagit.txt does not say its version and character encoding as BagIt does",
      coded: { code: "bag_declaration_invalid" },
    });
  }
  const manifests: ManifestRef[] = [];
  for (const start of ["manifest-", "tagmanifest-"]) {
    const options = { prefix: root + start, delimiter: "/", maxKeys: MAX_KEYS };
    const { objects } = await listObjects(lookup.s3, lookup.caller, bucket, options);
    for (const { Key: key, ETag: etag } of objects) {
      const named = bagItName(key.slice(root.length));
      if (!named) continue;
      const { algorithm, form } = named;
      if (algorithm === null || manifests.length >= MAX_MANIFESTS) {
        if (problems.length >= MAX_MANIFESTS) continue;
        const name = key.slice(root.length);
        const isUnknown = algorithm === null;
        problems.push({
          text: `${name} is not compared: ${
            isUnknown ? "its algorithm is not known here" : "there are too many manifests"
          }`,
          coded: { code: isUnknown ? "bag_algorithm_unknown" : "bag_manifests_too_many", params: { name } },
        });
        continue;
      }
      const percent = declaration === null || escapesPercent(declaration);
      manifests.push({ bucket, key, root, form, algorithm, escapesPercent: percent, etag });
    }
  }
  if (!manifests.some(({ form }) => form === "bagit")) {
    problems.push({
      text: "The bag has no payload manifest that can be compared",
      coded: { code: "bag_without_manifest" },
    });
  }
  const info = await tagFile(lookup, bucket, `${root}bag-info.txt`);
  const oxum = info === null ? null : info === "too long" ? "invalid" : parsePayloadOxum(info);
  if (oxum === "invalid") {
    problems.push({
      text: "bag-info.txt does not say its Payload-Oxum as BagIt does",
      coded: { code: "bag_oxum_invalid" },
    });
  }
  return { manifests, oxum: oxum === "invalid" ? null : oxum, problems };
}

/** The prefix of keys that are in the same folder as a key. */
export function folderOf(key: string): string {
  return key.slice(0, key.lastIndexOf("/") + 1);
}

/** The text of a small file of a bag; null where there is none. */
async function tagFile(lookup: Lookup, bucket: string, key: string): Promise<string | "too long" | null> {
  const bytes = await tagFileBytes(lookup, bucket, key);
  return bytes === null || bytes === "too long" ? bytes : new TextDecoder().decode(bytes);
}

/** The bytes of a small file of a bag; null where there is none. */
export async function tagFileBytes(
  { s3, caller }: Lookup,
  bucket: string,
  key: string,
): Promise<Uint8Array<ArrayBuffer> | "too long" | null> {
  const range = `bytes=0-${MAX_TAG_FILE_BYTES}`;
  try {
    const response = await getObject(s3, caller, { bucket, key }, { headers: { range } });
    const bytes = await readCappedBytes(response, MAX_TAG_FILE_BYTES + 1);
    return bytes.length > MAX_TAG_FILE_BYTES ? "too long" : bytes;
  } catch (error) {
    if (error instanceof HttpError && error.status === 404) return null;
    if (error instanceof BodyTooLong) return "too long";
    // A range of nothing: the file is empty.
    if (error instanceof HttpError && error.status === 416) return new Uint8Array(0);
    throw error;
  }
}

/** Null where the store says none; undefined where there is no such object. */
async function etagOf({ s3, caller }: Lookup, bucket: string, key: string): Promise<string | null | undefined> {
  try {
    return (await headObject(s3, caller, { bucket, key })).headers.get("etag");
  } catch (error) {
    if (error instanceof HttpError && error.status === 404) return undefined;
    throw error;
  }
}
