import type { FetchProblem } from "@/lib/presentation/fetch_problems.ts";
import { securedAddress } from "./secured_address.ts";
import { textDecoder, xmlDecoder } from "./xml_decoder.ts";

type Fetched<Problem> =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: Problem };

interface FetchTextOptions {
  readonly fetch: typeof fetch;
  readonly maxBytes: number;
  /** Cancels the reading; the result is then of no interest. */
  readonly signal: AbortSignal;
  /** Address of the page, unless it is that of the document. */
  readonly page?: string;
}

/** Longest wait for the next bytes, ms. */
const IDLE_MS = 20_000;
/** Longest time for a whole file, ms. */
const TOTAL_MS = 120_000;
/** Bytes of the beginning of a file that tell its encoding. */
const HEAD_BYTES = 1024;

/** Reads a text file of any server, in UTF-8 or UTF-16, of limited length and in limited time. It never throws. */
export function fetchText(url: string, options: FetchTextOptions): Promise<Fetched<FetchProblem>> {
  return fetchDecoded<FetchProblem>(url, options, textDecoder);
}

/** The same of an XML file, in the encoding that the server or the file states. */
export function fetchXml(url: string, options: FetchTextOptions): Promise<Fetched<FetchProblem | "unknown encoding">> {
  return fetchDecoded(url, options, (head, type) => xmlDecoder(head, type) ?? "unknown encoding");
}

/** @param decoderOf returns the decoder by the file's first bytes and its media type, or why there is none */
async function fetchDecoded<Problem>(
  url: string,
  { fetch, maxBytes, signal, page }: FetchTextOptions,
  decoderOf: (head: Uint8Array, mediaType: string | null) => TextDecoder | Extract<Problem, string>,
): Promise<Fetched<Problem | FetchProblem>> {
  const address = securedAddress(url, page);
  const isBlocked = address !== url;
  const idle = new AbortController();
  const bounds = AbortSignal.any([idle.signal, AbortSignal.timeout(TOTAL_MS)]);
  let timer = setTimeout(() => idle.abort(), IDLE_MS);
  try {
    const response = await fetch(address, { signal: AbortSignal.any([signal, bounds]) });
    if (!response.ok) {
      await response.body?.cancel();
      // Whoever may not read the file by https would not by http.
      const isAnswer = !isBlocked || response.status === 401 || response.status === 403;
      return { ok: false, problem: isAnswer ? response.status : "blocked" };
    }
    const texts: string[] = [];
    let head: Uint8Array | null = new Uint8Array();
    let decoder = new TextDecoder();
    let length = 0;
    // Not every browser can iterate over a stream.
    const reader = response.body?.getReader();
    for (let isDone = false; !isDone;) {
      const read = await reader?.read();
      isDone = read?.done !== false;
      let bytes: Uint8Array = read?.value ?? new Uint8Array();
      length += bytes.length;
      if (length > maxBytes) {
        await reader?.cancel();
        return { ok: false, problem: "too large" };
      }
      if (head !== null) {
        bytes = joined(head, bytes);
        head = bytes.length < HEAD_BYTES && !isDone ? bytes : null;
        if (head === null) {
          const found = decoderOf(bytes.subarray(0, HEAD_BYTES), response.headers.get("Content-Type"));
          if (!(found instanceof TextDecoder)) {
            await reader?.cancel();
            return { ok: false, problem: found };
          }
          decoder = found;
        }
      }
      if (head === null) texts.push(decoder.decode(bytes, { stream: !isDone }));
      clearTimeout(timer);
      timer = setTimeout(() => idle.abort(), IDLE_MS);
    }
    return { ok: true, text: texts.join("") };
  } catch {
    return { ok: false, problem: isBlocked ? "blocked" : bounds.aborted ? "slow" : "unreachable" };
  } finally {
    clearTimeout(timer);
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const all = new Uint8Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
