import { batchedPut } from "./batched_put.ts";
import type { Put, PutRequest, PutResponse } from "./put_file.ts";

/** Longest time without a byte that leaves, ms. */
const IDLE_MS = 60_000;
/** Longest wait for the response once everything has left, ms. */
const RESPONSE_MS = 180_000;
/** Longest time for a byte of many small files to leave, ms: fetch does not say how far it is. */
const BYTE_MS = 3;
const MAX_TEXT_CHARACTERS = 10_000;

/**
 * Sends bodies as a browser does: files from the disk by a request each, with their progress, and bytes in memory to the
 * gateway, many by one request.
 *
 * @param batchUrl where the gateway takes many files
 */
export function browserPut(batchUrl: string): Put {
  const putBytes = batchedPut((body, signal) => postBatch(batchUrl, body, signal));
  return (request) => {
    const { body } = request;
    return body instanceof Blob ? putBlob(request, body) : putBytes({ ...request, body });
  };
}

async function postBatch(url: string, body: Uint8Array<ArrayBuffer>, signal: AbortSignal): Promise<PutResponse> {
  // No AbortSignal.timeout: until it is over, each would hold the bodies of files that have arrived long ago.
  const bound = new AbortController();
  const abort = () => bound.abort();
  const timer = setTimeout(abort, RESPONSE_MS + body.byteLength * BYTE_MS);
  signal.addEventListener("abort", abort);
  try {
    signal.throwIfAborted();
    const response = await fetch(url, { method: "POST", body, signal: bound.signal });
    const text = await response.text();
    const short = responseOf(response.status, text, (name) => response.headers.get(name));
    // The list of responses is read whole: our own server bounds it.
    return response.ok ? { ...short, text } : short;
  } catch {
    signal.throwIfAborted();
    return responseOf(0, "", () => null);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

/** The browser reads the body from the disk as it goes. */
function putBlob({ url, headers, signal, onProgress }: PutRequest, body: Blob): Promise<PutResponse> {
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
      const header = (name: string) => status === 0 ? null : request.getResponseHeader(name);
      resolve(responseOf(status, status === 0 ? "" : request.responseText, header));
    };
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener("abort", abort);
    request.open("PUT", url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    within(IDLE_MS);
    request.send(body);
  });
}

function responseOf(status: number, text: string, header: (name: string) => string | null): PutResponse {
  return {
    status,
    text: text.slice(0, MAX_TEXT_CHARACTERS),
    etag: header("ETag"),
    // Other origins expose no such header, and a browser reports an attempt to read it as an error.
    retryAfter: status === 503 || status === 429 ? header("Retry-After") : null,
  };
}
