import { shellWord } from "./shell_text.ts";

/** An object and a link to it. */
interface SharedObject {
  readonly bucket: string;
  readonly key: string;
  /** Presigned. */
  readonly url: string;
}

/** Saves the object by its link, with curl. */
export function curlCommand({ key, url }: SharedObject): string {
  return `curl --fail --globoff --output ${shellWord(fileOf(key))} ${shellWord(url)}`;
}

/**
 * Saves the object with the AWS CLI and the keys that this has. Null for keys that it cannot take: it reads texts such
 * as `file://x` from a file, and no argument holds NUL.
 */
export function awsCommand({ bucket, key, url }: SharedObject): string | null {
  if (/^(?:fileb?|https?):\/\//i.test(key) || key.includes("\0")) return null;
  const words = [`--endpoint-url=${endpointOf(url, bucket)}`, `--bucket=${bucket}`, `--key=${key}`, fileOf(key)];
  return `aws s3api get-object ${words.map(shellWord).join(" ")}`;
}

/** A name in the working folder: the last segment of the key without what no file's name holds. */
function fileOf(key: string): string {
  const segments = key.split("/").filter((segment) => segment !== "");
  const name = (segments.at(-1) ?? "").replace(/[\p{Cc}\\:]/gu, "_");
  return name === "" || name === "." || name === ".." ? "object" : `./${name}`;
}

/** Without the bucket, which is a part of the host where the store has virtual hosts. */
function endpointOf(url: string, bucket: string): string {
  const { protocol, host } = new URL(url);
  const prefix = `${bucket.toLowerCase()}.`;
  return `${protocol}//${host.startsWith(prefix) ? host.slice(prefix.length) : host}`;
}
