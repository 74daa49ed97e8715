import type { Caller } from "@/lib/auth/store_credentials.ts";
import { callS3, type S3 } from "./client.ts";

/**
 * Makes a folder: an empty object whose key ends with a slash, which is added where it is missing.
 *
 * @returns the key
 * @throws HttpError as {@link callS3}
 */
export async function createFolder(s3: S3, caller: Caller, bucket: string, name: string): Promise<string> {
  const key = name.endsWith("/") ? name : `${name}/`;
  const response = await callS3(s3, caller, {
    method: "PUT",
    bucket,
    key,
    lengthBytes: 0,
    resource: `folder '${key}'`,
  });
  await response.body?.cancel();
  return key;
}
