import type { FetchProblem } from "@/lib/pages/fetch_problems.ts";

type Fetched<Problem> =
  | { readonly ok: true; readonly text: string; readonly headers: Headers }
  | { readonly ok: false; readonly problem: Problem };

interface FetchTextOptions {
  readonly fetch: typeof fetch;
  readonly maxBytes: number;
  readonly cache?: RequestCache;
  /** Cancels the reading; the result is then of no interest. */
  readonly signal: AbortSignal;
  /** Address of the page, unless it is that of the document. */
  readonly page?: string;
}

/** Longest wait for the next bytes, ms. */
const IDLE_MS = 20_000;
/** Longest time for a whole file, ms. */
const TOTAL_MS = 120_000;
/** The first bytes of a file, which tell its encoding. */
const HEAD_BYTES = 1024;

/**
 * Reads a text file of any server, of limited length and in limited time. It is in UTF-8, or in UTF-16 with a byte order
 * mark. It never throws.
 */
export function fetchText(url: string, options: FetchTextOptions): Promise<Fetched<FetchProblem>> {
  return fetchDecoded<FetchProblem>(url, options, (head) => new TextDecoder(wideEncoding(head) ?? "utf-8"));
}

/** Reads an XML file likewise, in the encoding that the server or the file states. */
export function fetchXml(url: string, options: FetchTextOptions): Promise<Fetched<FetchProblem | "unknown encoding">> {
  return fetchDecoded(url, options, (head, type) => xmlDecoder(head, type) ?? "unknown encoding");
}

/** @param decoderOf returns the decoder by the file's first bytes and its media type, or why there is none */
async function fetchDecoded<Problem>(
  url: string,
  { fetch, maxBytes, cache, signal, page }: FetchTextOptions,
  decoderOf: (head: Uint8Array, mediaType: string | null) => TextDecoder | Extract<Problem, string>,
): Promise<Fetched<Problem | FetchProblem>> {
  const address = securedAddress(url, page);
  const isBlocked = address !== url;
  const idle = new AbortController();
  const bounds = AbortSignal.any([idle.signal, AbortSignal.timeout(TOTAL_MS)]);
  let timer = setTimeout(() => idle.abort(), IDLE_MS);
  try {
    const response = await fetch(address, { cache, signal: AbortSignal.any([signal, bounds]) });
    if (!response.ok) {
      await response.body?.cancel();
      // Whoever may not read the file by https would not by http.
      const isAnswer = !isBlocked || response.status === 401 || response.status === 403;
      return { ok: false, problem: isAnswer ? response.status : "blocked" };
    }
    const chunks: Uint8Array<ArrayBuffer>[] = [];
    let length = 0;
    // Not every browser can iterate over a stream.
    const reader = response.body?.getReader();
    for (let read = await reader?.read(); read?.value !== undefined; read = await reader?.read()) {
      chunks.push(read.value);
      length += read.value.length;
      if (length > maxBytes) {
        await reader?.cancel();
        return { ok: false, problem: "too large" };
      }
      clearTimeout(timer);
      timer = setTimeout(() => idle.abort(), IDLE_MS);
    }
    const bytes = new Uint8Array(await new Blob(chunks).arrayBuffer());
    const { headers } = response;
    const decoder = decoderOf(bytes.subarray(0, HEAD_BYTES), headers.get("Content-Type"));
    if (!(decoder instanceof TextDecoder)) return { ok: false, problem: decoder };
    return { ok: true, text: decoder.decode(bytes), headers };
  } catch {
    return { ok: false, problem: isBlocked ? "blocked" : bounds.aborted ? "slow" : "unreachable" };
  } finally {
    clearTimeout(timer);
  }
}

/**
 * The decoder of an XML file: by its first bytes, else by what the server says, else by the file's declaration (RFC 7303,
 * section 3), else of UTF-8.
 *
 * @param head the first bytes of the file, at least 1024 where it has so many
 * @param mediaType the `Content-Type` of the response
 * @returns null for an encoding that the browser does not know
 */
export function xmlDecoder(head: Uint8Array, mediaType: string | null): TextDecoder | null {
  const wide = wideEncoding(head);
  if (wide !== null) return new TextDecoder(wide);
  if (startsWith(head, 0xef, 0xbb, 0xbf)) return new TextDecoder();
  const charset = /;\s*charset\s*=\s*"?([^\s;"]{1,60})/i.exec(mediaType ?? "")?.[1];
  const beginning = new TextDecoder("windows-1252").decode(head);
  const declared = /^\s*<\?xml\s[^>]*?\bencoding\s*=\s*["']([^"']{1,60})["']/.exec(beginning)?.[1];
  const decoder = decoderOf(charset ?? declared ?? "utf-8");
  // A name of UTF-16 that could be read byte by byte is wrong.
  return decoder?.encoding.startsWith("utf-16") ? new TextDecoder() : decoder;
}

/** UTF-16 shows in the byte order mark, or in the zeros of `<?` or `<a`. */
function wideEncoding(head: Uint8Array): "utf-16le" | "utf-16be" | null {
  if (startsWith(head, 0xff, 0xfe) || startsWith(head, 0x3c, 0x00)) return "utf-16le";
  return startsWith(head, 0xfe, 0xff) || startsWith(head, 0x00, 0x3c) ? "utf-16be" : null;
}

function startsWith(bytes: Uint8Array, ...first: readonly number[]): boolean {
  return first.every((byte, at) => bytes[at] === byte);
}

function decoderOf(name: string): TextDecoder | null {
  try {
    return new TextDecoder(name);
  } catch {
    return null;
  }
}

/**
 * The address by which a page may read a file. A browser blocks addresses of http on a page of https, except for those of
 * this machine (W3C Mixed Content), so https is tried in their place.
 *
 * @param address absolute
 * @param page address of the page
 * @returns the address itself where the browser does not block it
 */
export function securedAddress(address: string, page = globalThis.location?.href ?? ""): string {
  if (!page.startsWith("https:") || !/^http:/i.test(address)) return address;
  const url = URL.parse(address);
  if (url === null || LOOPBACK.test(url.hostname)) return address;
  url.protocol = "https:";
  return url.href;
}

const LOOPBACK = /^(?:127(?:\.\d+){3}|\[::1\]|(?:.*\.)?localhost)$/;
