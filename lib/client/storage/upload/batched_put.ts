import {
  batchBody,
  type BatchedFile,
  type BatchedResponse,
  MAX_BATCH_BYTES,
  MAX_BATCH_FILES,
} from "@/lib/presentation/storage/file_batch.ts";
import { gather, takeBatch } from "./gather.ts";
import type { PutRequest, PutResponse } from "./put_file.ts";

/** Requests that are under way at a time: while the server works on one, another one is on its way. */
const MAX_REQUESTS = 3;

/** A PUT of bytes in memory. */
type SmallPut = Omit<PutRequest, "body"> & { readonly body: ArrayBuffer };
/** Sends the body of a request for many files. */
type Post = (body: Uint8Array<ArrayBuffer>, signal: AbortSignal) => Promise<PutResponse>;

interface WaitingPut {
  readonly request: SmallPut;
  readonly bytes: number;
  /** Ends the request that it shares, once no other file of it is wanted. */
  leave: () => void;
  readonly resolve: (response: PutResponse) => void;
}

/**
 * Sends small files to the gateway, those that are ready at about the same time by one request. A file that is aborted
 * ends its request only if no other file shares it.
 *
 * @param post sends one request; it throws only the signal's reason
 */
export function batchedPut(post: Post): (request: SmallPut) => Promise<PutResponse> {
  const waiting: WaitingPut[] = [];
  let underWay = 0;
  const send = () => {
    while (underWay < MAX_REQUESTS && waiting.length > 0) {
      const puts = takeBatch(waiting, { files: MAX_BATCH_FILES, bytes: MAX_BATCH_BYTES });
      underWay++;
      void sendTogether(post, puts).finally(() => {
        underWay--;
        send();
      });
    }
  };
  const sendSoon = gather(send);
  return (request) => {
    const { signal } = request;
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const leave = () => void waiting.splice(waiting.indexOf(put), 1);
      const put: WaitingPut = { request, bytes: request.body.byteLength, leave, resolve: settle };
      const stop = () => {
        put.leave();
        reject(signal.reason);
      };
      function settle(response: PutResponse) {
        signal.removeEventListener("abort", stop);
        resolve(response);
      }
      signal.addEventListener("abort", stop, { once: true });
      waiting.push(put);
      sendSoon();
    });
  };
}

async function sendTogether(post: Post, puts: readonly WaitingPut[]): Promise<void> {
  const control = new AbortController();
  let wanted = puts.length;
  for (const put of puts) put.leave = () => void (--wanted === 0 && control.abort());
  const body = batchBody(puts.map(({ request }) => fileOf(request)), puts.map(({ request }) => request.body));
  // It throws once all files were aborted, and for no other reason.
  const response = await post(body, control.signal).catch(() => null);
  if (response === null) return;
  const responses = responsesOf(response, puts.length);
  for (const [index, { request, resolve }] of puts.entries()) {
    const own = responses[index];
    if (own.status >= 200 && own.status < 300 && !request.signal.aborted) request.onProgress(request.body.byteLength);
    resolve(own);
  }
}

function fileOf({ url, headers, body }: SmallPut): BatchedFile {
  const query = new URL(url, "http://page/").searchParams;
  return { bucket: query.get("bucket") ?? "", key: query.get("key") ?? "", headers, bytes: body.byteLength };
}

function isResponse(one: BatchedResponse | null): one is BatchedResponse {
  return typeof one?.status === "number" && typeof one.text === "string";
}

/** The response to each file; that to the request where it has failed as a whole. */
function responsesOf(response: PutResponse, files: number): readonly PutResponse[] {
  const same = (one: PutResponse) => Array.from({ length: files }, () => one);
  if (response.status < 200 || response.status >= 300) return same(response);
  try {
    const list: readonly (BatchedResponse | null)[] = JSON.parse(response.text);
    if (list.length === files && list.every(isResponse)) return list;
  } catch {
    // Not the response of our own server.
  }
  return same({ status: 502, text: "", etag: null, retryAfter: null });
}
