import { Buffer } from "node:buffer";
import { announcedLength, bodyReader } from "@/lib/std/body_reader.ts";
import { pacedReader } from "@/lib/std/paced_reader.ts";

/**
 * A request's whole body; null when it is longer than `maxBytes`.
 *
 * @throws {ChunksTooSmall | SlowBody} and the error of a broken body
 */
export async function readBody(request: Request, maxBytes: number): Promise<Uint8Array | null> {
  const length = announcedLength(request);
  if (length !== null && length > maxBytes) return null;
  if (!request.body) return new Uint8Array(0);
  const reader = pacedReader(bodyReader(request.body, length));
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for (let piece; (piece = await reader.read()) !== null;) {
      size += piece.length;
      if (size > maxBytes) return null;
      pieces.push(piece.slice());
    }
  } finally {
    reader.cancel();
  }
  return Buffer.concat(pieces);
}
