import { S3Error } from "@/lib/embedded/store/s3/s3_error.ts";

/** What a copy is made from. */
export interface CopySource {
  bucket: string;
  key: string;
  version: string | null;
}

/**
 * Reads the header x-amz-copy-source: a percent-encoded bucket and key, with or without a slash before them, and perhaps
 * a version. Throws {@link S3Error} InvalidArgument.
 */
export function parseCopySource(header: string): CopySource {
  const match = /^\/?([^/?]+)\/([^]+?)(?:\?versionId=([^&?]*))?$/.exec(header);
  if (!match || match[3] === "") invalid();
  const [bucket, key] = [decoded(match[1]), decoded(match[2])];
  return { bucket, key, version: match[3] === undefined ? null : decoded(match[3]) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return invalid();
  }
}

function invalid(): never {
  throw new S3Error("InvalidArgument", "The header x-amz-copy-source must be a bucket, a slash and an encoded key");
}
