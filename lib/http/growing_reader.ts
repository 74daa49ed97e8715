import { byteReader, chunkReader } from "@/lib/std/body_reader.ts";
import { type BodyReader, releaseReader } from "@/lib/std/byte_reader.ts";

interface GrowingReaderOptions {
  /** Largest chunk, bytes. */
  readonly maxChunkBytes: number;
  /**
   * Detaches the memory of each chunk when the next is read, which frees it as soon as the runtime has written it. Left
   * to the garbage collector, the memory of a long body makes V8 mark the whole heap again and again, which costs more
   * than all the rest. Only for a consumer that is done with a chunk when it reads the next, as the runtime is with the
   * body of a response or of a request: what it writes has a reference to the memory of its own.
   */
  readonly freesChunks: boolean;
}

/** Size of the first chunk, bytes. A slow sender fills less, and the memory of a chunk is zeroed whole. */
const FIRST_BYTES = 16 * 1024;

/**
 * Reads chunks that are as large as the sender is fast: twice as large when they come full, half when they come nearly
 * empty. Large ones cost less for each byte, small ones hold no memory that is not needed. Each has memory of its own.
 */
export function growingReader(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
  { maxChunkBytes, freesChunks }: GrowingReaderOptions,
): BodyReader {
  const reader = byteReader(body);
  if (!reader) return chunkReader(body.getReader());
  let bytes = FIRST_BYTES;
  let last: ArrayBuffer | null = null;
  let isCancelled = false;
  return {
    async read() {
      last?.transfer(0);
      last = null;
      if (isCancelled) return null;
      const { done, value } = await reader.read(new Uint8Array(bytes));
      if (done) return null;
      if (freesChunks) last = value.buffer;
      if (value.length === bytes) bytes = Math.min(bytes * 2, maxChunkBytes);
      else if (value.length < bytes / 4) bytes = Math.max(bytes / 2, FIRST_BYTES);
      return value;
    },
    cancel() {
      if (!isCancelled) releaseReader(reader);
      isCancelled = true;
    },
  };
}
