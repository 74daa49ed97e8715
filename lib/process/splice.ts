/** Bytes of a buffer while little is sent. There are two of them for each connection. */
const SMALL_BUFFER = 4 * 1024;
const LARGE_BUFFER = 64 * 1024;

/** Two connections whose bytes are passed on to each other. */
export interface Splice {
  /** Resolves when both are closed. */
  readonly ended: Promise<void>;
  /** Bytes that `client` has taken so far. */
  taken(): number;
  /** Closes both at once. */
  close(): void;
}

/**
 * Passes the bytes of two connections on to each other. When `inner` ends, both are closed as soon as `client` has taken
 * all of it; when `client` ends, `inner` is sent its end and may go on sending.
 */
export function splice(client: Deno.TcpConn, inner: Deno.TcpConn): Splice {
  const ended = Promise.withResolvers<void>();
  let open = true;
  let taken = 0;
  const close = () => {
    if (!open) return;
    open = false;
    client.close();
    inner.close();
    ended.resolve();
  };
  copy(inner, client, (bytes) => taken += bytes).then(close, close);
  copy(client, inner, () => {}).then(() => inner.closeWrite()).catch(close);
  return { ended: ended.promise, taken: () => taken, close };
}

/** Copies what one side sends until it ends. `passed` is called with the bytes that the other side has taken. */
async function copy(from: Deno.TcpConn, to: Deno.TcpConn, passed: (bytes: number) => void): Promise<void> {
  let buffer = new Uint8Array(SMALL_BUFFER);
  for (;;) {
    const length = await from.read(buffer);
    if (length === null) return;
    for (let sent = 0; sent < length;) {
      const bytes = await to.write(buffer.subarray(sent, length));
      passed(bytes);
      sent += bytes;
    }
    // Long bodies fill the buffer; connections that wait for a request hold a small one.
    if (length === buffer.length && length < LARGE_BUFFER) buffer = new Uint8Array(LARGE_BUFFER);
    else if (length <= SMALL_BUFFER && buffer.length > SMALL_BUFFER) buffer = new Uint8Array(SMALL_BUFFER);
  }
}
