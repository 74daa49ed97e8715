import type { RequestContext } from "@/lib/http/request_context.ts";
import type { RawTarget } from "@/lib/http/raw_path.ts";
import { boundedReader, streamReader } from "@/lib/std/body_reader.ts";
import type { StorageCredentials } from "./storage_cookie.ts";
import type { StorageGateway } from "./storage_gateway.ts";

/** Longest time that a page waits for a part of an object, ms. */
const PART_MS = 10_000;

/** Bytes of an object. */
interface BytePart {
  readonly from: number;
  readonly length: number;
}

/**
 * Reads a part of an object, at most as many bytes as requested. Where the store ignores the range, a part of the
 * beginning is cut from the whole and the rest is cancelled.
 *
 * @returns null where there is no such part, or where it does not come in time
 * @throws HttpError when the gateway does not respond
 */
export async function readObjectPart(
  gateway: StorageGateway,
  target: RawTarget,
  acting: StorageCredentials & { readonly digest: string },
  { from, length }: BytePart,
  context: RequestContext,
): Promise<Uint8Array | null> {
  const headers = new Headers({ Range: `bytes=${from}-${from + length - 1}`, "Accept-Encoding": "identity" });
  // The slot that the request takes of the store is released with these bytes, not with the page that shows them.
  const { promise: readHere, resolve: release } = Promise.withResolvers<void>();
  try {
    const { status, body } = await gateway.send({ method: "GET", target, headers, readHere }, acting, context);
    if (body !== null && (status === 206 || (status === 200 && from === 0))) return await beginningOf(body, length);
    await body?.cancel();
    return null;
  } finally {
    release();
  }
}

/** The first bytes of a body, at most `length`; null where they do not come in time. The rest is canceled. */
async function beginningOf(body: ReadableStream<Uint8Array<ArrayBuffer>>, length: number): Promise<Uint8Array | null> {
  const reader = boundedReader(streamReader(body), { totalMs: PART_MS });
  const bytes = new Uint8Array(length);
  let filled = 0;
  try {
    for (let chunk; filled < length && (chunk = await reader.read());) {
      const part = chunk.subarray(0, length - filled);
      bytes.set(part, filled);
      filled += part.length;
    }
  } catch {
    return null;
  } finally {
    reader.cancel();
  }
  return bytes.subarray(0, filled);
}
