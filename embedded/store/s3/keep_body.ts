import type { ReceivedBody } from "@/embedded/store/bodies.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { S3Error } from "./s3_error.ts";

/** Does what gives a received body its place in the index; where that is refused, the body is discarded. Throws as it does. */
export async function storeBody<T>(received: ReceivedBody, keep: () => Promise<T>): Promise<T> {
  try {
    return await keep();
  } catch (error) {
    // After a fault of the disk nobody knows what it holds: such a file is left to the sweep at the next start.
    if (error instanceof S3Error || error instanceof StoreError) received.discard();
    throw error;
  }
}
