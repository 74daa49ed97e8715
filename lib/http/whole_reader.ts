import { byteReader, chunkReader } from "@/lib/std/body_reader.ts";
import { type BodyReader, releaseReader } from "@/lib/std/byte_reader.ts";
import { BodyTooLong, LimitedBytes } from "@/lib/std/read_limited.ts";

/** A whole body of known length. */
interface WholeReader extends Pick<BodyReader, "cancel"> {
  /**
   * All bytes, in memory of their own; null for a body that ends early or was cancelled. To be called once.
   *
   * @throws BodyTooLong, or what breaks the stream
   */
  read(): Promise<Uint8Array<ArrayBuffer> | null>;
}

/**
 * Reads a body of known length whole. The runtime writes it into memory of that length, where `bytes()` of a response
 * would collect it in memory that grows.
 */
export function wholeReader(body: ReadableStream<Uint8Array<ArrayBuffer>>, lengthBytes: number): WholeReader {
  const reader = byteReader(body);
  if (!reader) return joiningReader(chunkReader(body.getReader()), lengthBytes);
  return {
    async read() {
      let bytes: Uint8Array<ArrayBuffer> = new Uint8Array(lengthBytes);
      if (lengthBytes > 0) {
        const { value } = await reader.read(bytes, { min: lengthBytes });
        if (value?.length !== lengthBytes) return null;
        bytes = value;
      }
      const { done } = await reader.read(new Uint8Array(1));
      if (!done) throw new BodyTooLong(lengthBytes);
      return bytes;
    },
    cancel: () => releaseReader(reader),
  };
}

function joiningReader(reader: BodyReader, lengthBytes: number): WholeReader {
  return {
    async read() {
      const bytes = new LimitedBytes(lengthBytes);
      for (let chunk; (chunk = await reader.read());) bytes.add(chunk);
      const joined = bytes.joined();
      return joined.length === lengthBytes ? joined : null;
    },
    cancel: () => reader.cancel(),
  };
}
