import { MAX_HASHED_BYTES } from "@/lib/presentation/storage/upload_plan.ts";
import { webDigest } from "./part_digest.ts";
import type { PutRequest, PutResponse } from "./upload_calls.ts";
import type { Sending } from "./upload_engine.ts";
import { UploadSteps } from "./upload_steps.ts";

/** Longest time without a byte that leaves, ms. */
const IDLE_MS = 60_000;
/** Longest wait for the response once everything has left, ms. */
const RESPONSE_MS = 180_000;
const MAX_TEXT_CHARACTERS = 10_000;

/** What an upload needs once it sends. */
export const browserSending: Sending = {
  put: browserPut,
  digest: webDigest(globalThis.crypto?.subtle, MAX_HASHED_BYTES),
  steps: (context) => new UploadSteps(context),
};

/** The browser reads the body from the disk as it goes. */
function browserPut({ url, headers, body, signal, onProgress }: PutRequest): Promise<PutResponse> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    let timer: ReturnType<typeof setTimeout>;
    const within = (ms: number) => {
      clearTimeout(timer);
      timer = setTimeout(() => request.abort(), ms);
    };
    const abort = () => request.abort();
    request.upload.onprogress = ({ loaded }) => {
      within(loaded < body.size ? IDLE_MS : RESPONSE_MS);
      onProgress(loaded);
    };
    request.onloadend = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      if (signal.aborted) return reject(signal.reason);
      const { status } = request;
      // Other origins expose no such header, and a browser reports an attempt to read it as an error.
      const isBusy = status === 503 || status === 429;
      resolve({
        status,
        text: status === 0 ? "" : request.responseText.slice(0, MAX_TEXT_CHARACTERS),
        etag: status === 0 ? null : request.getResponseHeader("ETag"),
        retryAfter: isBusy ? request.getResponseHeader("Retry-After") : null,
      });
    };
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener("abort", abort);
    request.open("PUT", url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    within(IDLE_MS);
    request.send(body);
  });
}
