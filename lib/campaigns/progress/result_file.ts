/** Answers a request for a result file: `fetch`, or the results role of this process. Redirects are not followed. */
export type ResultsFetch = (request: Request) => Promise<Response>;

/** Whose eyes a file is read with, and whether anybody still waits. */
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

interface FileAnswer {
  /** null: there was no whole answer in time. */
  readonly status: number | null;
  /** null unless the status is 200; also when the body is too long or encoded, as a compressed one might be a bomb. */
  readonly body: Uint8Array | null;
}

/** Reads one small file of the results store. Never throws. */
export async function readResultFile(
  send: ResultsFetch,
  url: string,
  { cookie, signal }: FileReader,
  { timeoutMs, maxBytes }: FileLimits,
): Promise<FileAnswer> {
  const stop = new AbortController();
  const late = Promise.withResolvers<FileAnswer>();
  const giveUp = () => {
    stop.abort();
    // Not every sender looks at the signal.
    late.resolve(NO_ANSWER);
  };
  const timer = setTimeout(giveUp, timeoutMs);
  signal.addEventListener("abort", giveUp, { once: true });
  if (signal.aborted) giveUp();
  try {
    return await Promise.race([late.promise, ask(send, url, cookie, stop.signal, maxBytes)]);
  } catch {
    return NO_ANSWER;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", giveUp);
  }
}

const NO_ANSWER: FileAnswer = { status: null, body: null };

async function ask(
  send: ResultsFetch,
  url: string,
  cookie: string,
  signal: AbortSignal,
  maxBytes: number,
): Promise<FileAnswer> {
  const headers = { "Accept": "application/json", "Accept-Encoding": "identity", "Cookie": cookie };
  const response = await send(new Request(url, { headers, redirect: "manual", signal }));
  const encoding = response.headers.get("Content-Encoding") ?? "identity";
  if (response.status !== 200 || encoding.toLowerCase() !== "identity" || signal.aborted) {
    await response.body?.cancel();
    return { status: response.status, body: null };
  }
  return { status: 200, body: await bodyWithin(response, maxBytes) };
}

async function bodyWithin(response: Response, maxBytes: number): Promise<Uint8Array | null> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  // Leaving the loop early cancels the body.
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > maxBytes) return null;
    chunks.push(chunk);
  }
  return await new Blob(chunks).bytes();
}
