import { readCappedBytes, type UpstreamResponse } from "@/lib/http/response_body.ts";
import { BodyTooLong } from "@/lib/std/body_reader.ts";
import { deadline } from "@/lib/std/timing.ts";

/** Requests a result file: `fetch`, or the results role of this process or another. Redirects are not followed. */
export type ResultsFetch = (url: string, options: ResultsRequest) => Promise<UpstreamResponse>;

/** A plain record for headers, since a request for each of a hundred files would cost as much as sending it. */
interface ResultsRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly redirect: "manual";
  readonly signal: AbortSignal;
}

/** The session of a read and its cancellation. */
export interface FileReader {
  /** The `Cookie` header of the results role: the session's cookie and nothing else. */
  readonly cookie: string;
  readonly signal: AbortSignal;
}

export interface FileLimits {
  /** Until the last byte, ms. */
  readonly timeoutMs: number;
  readonly maxBytes: number;
}

interface FileResult {
  /** null: no complete response in time. */
  readonly status: number | null;
  /** null unless the status is 200, and for a body that is too long or encoded: a compressed one could be a bomb. */
  readonly body: Uint8Array | null;
}

/** Reads one small file of the results store. Never throws. */
export async function readResultFile(
  send: ResultsFetch,
  url: string,
  { cookie, signal }: FileReader,
  { timeoutMs, maxBytes }: FileLimits,
): Promise<FileResult> {
  const stop = new AbortController();
  const late = Promise.withResolvers<FileResult>();
  const cancel = () => {
    stop.abort();
    // Not every implementation observes the signal.
    late.resolve(NO_RESPONSE);
  };
  const release = deadline(timeoutMs, cancel);
  signal.addEventListener("abort", cancel, { once: true });
  if (signal.aborted) cancel();
  try {
    return await Promise.race([late.promise, fetchFile(send, url, cookie, stop.signal, { timeoutMs, maxBytes })]);
  } catch {
    return NO_RESPONSE;
  } finally {
    release();
    signal.removeEventListener("abort", cancel);
  }
}

const NO_RESPONSE: FileResult = { status: null, body: null };

async function fetchFile(
  send: ResultsFetch,
  url: string,
  cookie: string,
  signal: AbortSignal,
  limits: FileLimits,
): Promise<FileResult> {
  const headers = { accept: "application/json", "accept-encoding": "identity", cookie };
  const response = await send(url, { headers, redirect: "manual", signal });
  const encoding = response.headers.get("Content-Encoding") ?? "identity";
  if (response.status !== 200 || encoding.toLowerCase() !== "identity" || signal.aborted) {
    await response.body?.cancel();
    return { status: response.status, body: null };
  }
  return { status: 200, body: await readBody(response, limits) };
}

/** The whole body within `timeoutMs`, null when it is longer than `maxBytes`. */
async function readBody(response: UpstreamResponse, { timeoutMs, maxBytes }: FileLimits): Promise<Uint8Array | null> {
  try {
    return await readCappedBytes(response, maxBytes, timeoutMs);
  } catch (error) {
    if (error instanceof BodyTooLong) return null;
    throw error;
  }
}
