import { elements, elementText, type S3Wire, textOf } from "@/bench/wire/s3_wire.ts";
import { between } from "@/embedded/archive/catalogue.ts";

/** One entry of a listing of versions. */
export interface FoundVersion {
  id: string;
  isMarker: boolean;
  isLatest: boolean;
  etag: string;
  size: number;
}

/** All pages of a bucket's listings, by key. */
export interface FoundBucket {
  /** The plain listing: ETag and size. */
  objects: Map<string, { etag: string; size: number }>;
  /** The newest first. */
  versions: Map<string, FoundVersion[]>;
  /** Upload ids. */
  uploads: Map<string, string[]>;
}

/** Reads the listings of a bucket below a prefix in pages of random sizes. Throws when a page breaks the order or ends without end. */
export async function readBucket(
  wire: S3Wire,
  bucket: string,
  prefix: string,
  random: () => number,
): Promise<FoundBucket> {
  return {
    objects: await readObjects(wire, bucket, prefix, random),
    versions: await readVersions(wire, bucket, prefix, random),
    uploads: await readUploads(wire, bucket, prefix, random),
  };
}

async function readObjects(wire: S3Wire, bucket: string, prefix: string, random: () => number) {
  const found: FoundBucket["objects"] = new Map();
  for (let token = "", last = "";;) {
    const page = await list(wire, bucket, [
      ["list-type", "2"],
      ["prefix", prefix],
      ["max-keys", String(between(random, 3, 50))],
      ...token ? [["continuation-token", token] as const] : [],
    ]);
    for (const entry of elements(page, "Contents")) {
      const key = elementText(entry, "Key");
      if (key <= last) throw new Error(`the listing of ${bucket} shows ${key} behind ${last}`);
      last = key;
      found.set(key, { etag: bareEtag(entry), size: Number(elementText(entry, "Size")) });
    }
    token = elementText(page, "NextContinuationToken");
    if (!token) return found;
  }
}

async function readVersions(wire: S3Wire, bucket: string, prefix: string, random: () => number) {
  const found: FoundBucket["versions"] = new Map();
  for (let key = "", version = "";;) {
    const page = await list(wire, bucket, [
      ["versions", ""],
      ["prefix", prefix],
      ["max-keys", String(between(random, 3, 50))],
      ...key ? [["key-marker", key] as const] : [],
      ...version ? [["version-id-marker", version] as const] : [],
    ]);
    for (const [, kind, entry] of page.matchAll(/<(Version|DeleteMarker)>(.*?)<\/\1>/gs)) {
      const of = found.get(elementText(entry, "Key")) ?? [];
      of.push({
        id: elementText(entry, "VersionId"),
        isMarker: kind === "DeleteMarker",
        isLatest: elementText(entry, "IsLatest") === "true",
        etag: bareEtag(entry),
        size: Number(elementText(entry, "Size")),
      });
      found.set(elementText(entry, "Key"), of);
    }
    key = elementText(page, "NextKeyMarker");
    version = elementText(page, "NextVersionIdMarker");
    if (elementText(page, "IsTruncated") !== "true") return found;
  }
}

async function readUploads(wire: S3Wire, bucket: string, prefix: string, random: () => number) {
  const found: FoundBucket["uploads"] = new Map();
  for (let key = "", upload = "";;) {
    const page = await list(wire, bucket, [
      ["uploads", ""],
      ["prefix", prefix],
      ["max-uploads", String(between(random, 3, 50))],
      ...key ? [["key-marker", key] as const, ["upload-id-marker", upload] as const] : [],
    ]);
    for (const entry of elements(page, "Upload")) {
      const of = found.get(elementText(entry, "Key")) ?? [];
      of.push(elementText(entry, "UploadId"));
      found.set(elementText(entry, "Key"), of);
    }
    key = elementText(page, "NextKeyMarker");
    upload = elementText(page, "NextUploadIdMarker");
    if (elementText(page, "IsTruncated") !== "true") return found;
  }
}

async function list(wire: S3Wire, bucket: string, query: readonly (readonly [string, string])[]): Promise<string> {
  return textOf(await wire.succeed({ method: "GET", bucket, query }));
}

function bareEtag(entry: string): string {
  return elementText(entry, "ETag").replaceAll('"', "");
}
