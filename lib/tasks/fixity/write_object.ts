import { createHash } from "node:crypto";
import { readerSource } from "@/lib/http/body_source.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { chunksReader } from "@/lib/std/body_reader.ts";
import { headObject, putObject } from "@/lib/s3/objects.ts";
import { writeFromSource } from "@/lib/s3/upload/object_upload.ts";
import { startDigest } from "@/lib/std/digests.ts";
import { readObject, type ReadSource } from "./read_object.ts";

/** An object that a check writes. */
export interface Output {
  readonly key: string;
  readonly type: string;
  /** Its text in chunks, the same at each call. */
  readonly text: () => AsyncIterable<string>;
}

/** An object that a check has written. */
export interface WrittenOutput {
  readonly key: string;
  /** bytes */
  readonly size: number;
  readonly sha256: string;
}

/** An object that is about to be written, and what is there under its key. */
export interface PlannedOutput extends WrittenOutput {
  readonly output: Output;
  /** `same`: an object of the same bytes, which an earlier run of the check may have written. */
  readonly found: "none" | "same" | "other";
}

/** Finds out what an object will be, and what is there. @throws as `readObject` */
export async function planOutput(source: ReadSource, bucket: string, output: Output): Promise<PlannedOutput> {
  const { key, text } = output;
  const sum = createHash("sha256");
  let size = 0;
  for await (const chunk of text()) {
    const bytes = encoder.encode(chunk);
    sum.update(bytes);
    size += bytes.length;
  }
  const sha256 = sum.digest("hex");
  const foundSize = await sizeOf(source, bucket, key);
  const isSame = foundSize === size && await sha256Of(source, bucket, key) === sha256;
  return { output, key, size, sha256, found: foundSize === null ? "none" : isSame ? "same" : "other" };
}

/** @throws HttpError 409 where objects with other bytes would be replaced */
export function mustReplaceNone(planned: readonly PlannedOutput[]): void {
  const keys = planned.filter(({ found }) => found === "other").map(({ key }) => key);
  if (keys.length > 0) throw conflict(keys);
}

/**
 * Writes an object as it was planned. One of the same bytes stays.
 *
 * @throws HttpError 409 where an object has come meanwhile; as `putObject`
 */
export async function writePlanned(source: ReadSource, bucket: string, planned: PlannedOutput): Promise<void> {
  const { output, size, found } = planned;
  if (found !== "same") await put(source, bucket, output, size, found === "none");
}

const encoder = new TextEncoder();

async function put(
  { s3, caller }: ReadSource,
  bucket: string,
  { key, type, text }: Output,
  lengthBytes: number,
  isNew: boolean,
): Promise<void> {
  const send = async (headers: Headers) => {
    headers.set("content-type", type);
    const ref = { bucket, key };
    const body = encoded(text());
    if (await s3.mayTruncate?.(false)) {
      await writeFromSource(s3, caller, ref, { headers, lengthBytes: null, source: readerSource(chunksReader(body)) });
    } else await putObject(s3, caller, ref, { headers, lengthBytes, body });
  };
  if (!isNew) return await send(new Headers());
  try {
    await send(new Headers({ "if-none-match": "*" }));
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    if (error.status === 412 || error.status === 409) throw conflict([key]);
    // A store that does not know the condition: it was looked up before.
    if (error.status !== 501) throw error;
    await send(new Headers());
  }
}

async function* encoded(text: AsyncIterable<string>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for await (const chunk of text) if (chunk !== "") yield encoder.encode(chunk);
}

function conflict(keys: readonly string[]): HttpError {
  const names = keys.map((key) => `'${key}'`).join(", ");
  return new HttpError(
    409,
    keys.length === 1
      ? `The object ${names} is there already with other bytes: ask with overwrite to replace it`
      : `The objects ${names} are there already with other bytes: ask with overwrite to replace them`,
    { coded: { code: "not_written_exists", params: { keys: names } } },
  );
}

async function sizeOf({ s3, caller }: ReadSource, bucket: string, key: string): Promise<number | null> {
  try {
    const { headers } = await headObject(s3, caller, { bucket, key });
    return Number(headers.get("content-length") ?? -1);
  } catch (error) {
    if (error instanceof HttpError && error.status === 404) return null;
    throw error;
  }
}

async function sha256Of(source: ReadSource, bucket: string, key: string): Promise<string> {
  let digest = startDigest("sha256");
  await readObject(source, { bucket, key }, null, () => {
    const begun = digest = startDigest("sha256");
    return (chunk) => begun.update(chunk);
  });
  return digest.hex();
}
