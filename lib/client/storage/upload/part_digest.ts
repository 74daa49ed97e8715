/** The SHA-256 of a body in base64; null where it is not computed. */
export type Digest = (body: Blob | ArrayBuffer, signal: AbortSignal) => Promise<string | null>;

/** Bodies above this are hashed two at a time, so that no more than these are in memory, bytes. */
const LARGE_BYTES = 1024 * 1024;
const LARGE_AT_A_TIME = 2;

/**
 * Hashes by Web Crypto, which works outside of the page's thread. Without it, as on plain HTTP, nothing is hashed.
 *
 * @param mostBytes longest body that is read into memory
 */
export function webDigest(subtle: SubtleCrypto | undefined, mostBytes: number): Digest {
  if (!subtle) return () => Promise.resolve(null);
  let free = LARGE_AT_A_TIME;
  const waiting: (() => void)[] = [];
  return async (body, signal) => {
    if (body instanceof ArrayBuffer) return base64(await subtle.digest("SHA-256", body));
    if (body.size > mostBytes) return null;
    const isLarge = body.size > LARGE_BYTES;
    if (isLarge) {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
    }
    try {
      signal.throwIfAborted();
      return base64(await subtle.digest("SHA-256", await body.arrayBuffer()));
    } finally {
      if (isLarge) {
        const next = waiting.shift();
        if (next) next();
        else free++;
      }
    }
  };
}

function base64(bytes: ArrayBuffer): string {
  return btoa(String.fromCharCode(...new Uint8Array(bytes)));
}
