import type { FetchProblem } from "@/lib/presentation/fetch_problems.ts";

type FetchedText =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly problem: FetchProblem };

interface FetchTextOptions {
  readonly fetch: typeof fetch;
  readonly maxBytes: number;
  /** Cancels the reading; the result is then of no interest. */
  readonly signal: AbortSignal;
}

/** Longest wait for the next bytes, ms. */
const IDLE_MS = 20_000;
/** Longest time for a whole file, ms. */
const TOTAL_MS = 120_000;

/** Reads a text file of any server, of limited length and in limited time. It never throws. */
export async function fetchText(url: string, { fetch, maxBytes, signal }: FetchTextOptions): Promise<FetchedText> {
  const idle = new AbortController();
  const bounds = AbortSignal.any([idle.signal, AbortSignal.timeout(TOTAL_MS)]);
  let timer = setTimeout(() => idle.abort(), IDLE_MS);
  try {
    const response = await fetch(url, { signal: AbortSignal.any([signal, bounds]) });
    if (!response.ok) {
      await response.body?.cancel();
      return { ok: false, problem: response.status };
    }
    const decoder = new TextDecoder();
    const chunks: string[] = [];
    let length = 0;
    // Not every browser can iterate over a stream.
    const reader = response.body?.getReader();
    for (let read; reader && !(read = await reader.read()).done;) {
      length += read.value.length;
      if (length > maxBytes) {
        await reader.cancel();
        return { ok: false, problem: "too large" };
      }
      chunks.push(decoder.decode(read.value, { stream: true }));
      clearTimeout(timer);
      timer = setTimeout(() => idle.abort(), IDLE_MS);
    }
    return { ok: true, text: chunks.join("") + decoder.decode() };
  } catch {
    return { ok: false, problem: bounds.aborted ? "slow" : "unreachable" };
  } finally {
    clearTimeout(timer);
  }
}
