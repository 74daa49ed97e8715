import type { Put } from "./put_file.ts";

/** Longest time without a byte that leaves, ms. */
const IDLE_MS = 60_000;
/** Longest wait for the response once everything has left, ms. */
const RESPONSE_MS = 180_000;
const MAX_TEXT_CHARACTERS = 10_000;

/** Sends a body by XMLHttpRequest, since `fetch` reports no progress. The browser reads it from the disk as it goes. */
export const putFile: Put = ({ url, headers, body, signal, onProgress }) =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    let timer: ReturnType<typeof setTimeout>;
    const within = (ms: number) => {
      clearTimeout(timer);
      timer = setTimeout(() => request.abort(), ms);
    };
    const abort = () => request.abort();
    if (body instanceof Blob) {
      request.upload.onprogress = ({ loaded }) => {
        within(loaded < body.size ? IDLE_MS : RESPONSE_MS);
        onProgress(loaded);
      };
    }
    request.onloadend = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      if (signal.aborted) return reject(signal.reason);
      const { status } = request;
      resolve({
        status,
        text: status === 0 ? "" : request.responseText.slice(0, MAX_TEXT_CHARACTERS),
        etag: status === 0 ? null : request.getResponseHeader("ETag"),
        retryAfter: status === 503 || status === 429 ? request.getResponseHeader("Retry-After") : null,
      });
    };
    if (signal.aborted) return reject(signal.reason);
    signal.addEventListener("abort", abort);
    request.open("PUT", url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    within(IDLE_MS);
    request.send(body);
  });
