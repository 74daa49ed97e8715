import { createHash } from "node:crypto";
import { HttpError } from "@/lib/http/errors.ts";
import { headObject, putObject } from "@/lib/s3/objects.ts";
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

/**
 * Writes an object. One that is there with the same bytes stays: an earlier run of the check may have written it.
 *
 * @param overwrites whether one with other bytes is replaced
 * @throws HttpError 409 where it is not; as `putObject`
 */
export async function writeOutput(
  source: ReadSource,
  bucket: string,
  output: Output,
  overwrites: boolean,
): Promise<WrittenOutput> {
  const { key, text } = output;
  const sum = createHash("sha256");
  let size = 0;
  for await (const chunk of text()) {
    const bytes = encoder.encode(chunk);
    sum.update(bytes);
    size += bytes.length;
  }
  const written = { key, size, sha256: sum.digest("hex") };
  const found = await sizeOf(source, bucket, key);
  if (found !== null) {
    if (found === size && await sha256Of(source, bucket, key) === written.sha256) return written;
    if (!overwrites) throw conflict(key);
  }
  await put(source, bucket, output, size, found === null);
  return written;
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
    await putObject(s3, caller, ref, { headers, lengthBytes, body: encoded(text()) });
  };
  if (!isNew) return await send(new Headers());
  try {
    await send(new Headers({ "if-none-match": "*" }));
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    if (error.status === 412 || error.status === 409) throw conflict(key);
    // A store that does not know the condition: it was looked up before.
    if (error.status !== 501) throw error;
    await send(new Headers());
  }
}

async function* encoded(text: AsyncIterable<string>): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  for await (const chunk of text) if (chunk !== "") yield encoder.encode(chunk);
}

function conflict(key: string): HttpError {
  return new HttpError(409, `The object '${key}' is there already with other bytes: ask with overwrite to replace it`);
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
