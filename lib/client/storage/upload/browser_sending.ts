import { MAX_HASHED_BYTES } from "@/lib/presentation/storage/upload_plan.ts";
import { webDigest } from "./part_digest.ts";
import type { Sending } from "./upload_engine.ts";
import { UploadSteps } from "./upload_steps.ts";
import { browserPut } from "./xhr_put.ts";

/** What an upload needs once it sends. @param batchUrl where the gateway takes many small files by one request */
export function browserSending(batchUrl: string): Sending {
  return {
    put: browserPut(batchUrl),
    digest: webDigest(globalThis.crypto?.subtle, MAX_HASHED_BYTES),
    steps: (context) => new UploadSteps(context),
  };
}
