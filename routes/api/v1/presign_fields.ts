import { z } from "zod";
import { DEFAULT_PRESIGN_SECONDS, MAX_PRESIGN_SECONDS, PRESIGN_METHODS } from "@/lib/s3/presign.ts";

/** What a presigned URL does; any other word is refused by one sentence, not by a list of problems. */
export const methodField = z.string().default("get_object").meta({
  description: "get_object reads, put_object writes",
  enum: [...PRESIGN_METHODS],
});

const seconds = z.int().min(1).max(MAX_PRESIGN_SECONDS).nullish();

/** How long presigned URLs are to be good, in a request. */
export const validityFields = {
  expires_in: seconds.meta({ description: `Validity in seconds, ${DEFAULT_PRESIGN_SECONDS} when absent` }),
  validity: seconds.meta({ description: "Another name of expires_in, which wins" }),
};

/** The same in seconds. */
export function validitySeconds(
  body: { readonly expires_in?: number | null; readonly validity?: number | null },
): number {
  return body.expires_in ?? body.validity ?? DEFAULT_PRESIGN_SECONDS;
}
