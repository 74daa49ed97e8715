/** Bytes of a buffer while little is sent. There are two of them for each connection. */
const SMALL_BUFFER = 4 * 1024;
const LARGE_BUFFER = 64 * 1024;

/**
 * Passes the bytes of two connections on to each other. When `inner` ends, both are closed; when `client` ends, `inner`
 * is sent its end and may go on sending.
 *
 * @returns what closes both at once
 */
export function splice(client: Deno.TcpConn, inner: Deno.TcpConn): () => void {
  let open = true;
  const close = () => {
    if (!open) return;
    open = false;
    client.close();
    inner.close();
  };
  copy(inner, client).then(close, close);
  copy(client, inner).then(() => inner.closeWrite()).catch(close);
  return close;
}

/** Copies what one side sends until it ends. */
async function copy(from: Deno.TcpConn, to: Deno.TcpConn): Promise<void> {
  let buffer = new Uint8Array(SMALL_BUFFER);
  for (;;) {
    const length = await from.read(buffer);
    if (length === null) return;
    for (let sent = 0; sent < length;) sent += await to.write(buffer.subarray(sent, length));
    // Long bodies fill the buffer; connections that wait for a request hold a small one.
    if (length === buffer.length && length < LARGE_BUFFER) buffer = new Uint8Array(LARGE_BUFFER);
    else if (length <= SMALL_BUFFER && buffer.length > SMALL_BUFFER) buffer = new Uint8Array(SMALL_BUFFER);
  }
}
