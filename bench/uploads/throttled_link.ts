/** A link to a port of this machine that passes a bounded number of bytes a second towards it, all connections together. */
export interface ThrottledLink extends Disposable {
  readonly port: number;
}

/** Bytes that may go at once after a rest: a tenth of a second's. */
const BURST_SHARE = 0.1;
const WAIT_MS = 2;
const BUFFER_BYTES = 256 * 1024;

/** A token bucket in front of a port. @param bytesPerSecond Infinity: as fast as it goes */
export function throttledLink(target: number, bytesPerSecond: number): ThrottledLink {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const burst = bytesPerSecond * BURST_SHARE;
  let tokens = burst;
  let filledAt = performance.now();
  const take = async (bytes: number) => {
    for (;;) {
      const now = performance.now();
      tokens = Math.min(burst, tokens + (now - filledAt) / 1000 * bytesPerSecond);
      filledAt = now;
      if (!(tokens <= 0)) break;
      await new Promise((go) => setTimeout(go, WAIT_MS));
    }
    // A debt is paid by those that come later.
    tokens -= bytes;
  };
  void (async () => {
    for await (const client of listener) void pass(client, target, take);
  })().catch(() => {});
  return { port: (listener.addr as Deno.NetAddr).port, [Symbol.dispose]: () => listener.close() };
}

async function pass(client: Deno.TcpConn, port: number, take: (bytes: number) => Promise<void>): Promise<void> {
  try {
    using _client = client;
    using server = await Deno.connect({ hostname: "127.0.0.1", port });
    client.setNoDelay();
    server.setNoDelay();
    await Promise.all([relay(client, server, take), relay(server, client, () => Promise.resolve())]);
  } catch {
    // Either side has gone.
  }
}

/** Reads and writes by one buffer of its own: streams allocate one for each read, and cost the machine that is measured twice the CPU. */
async function relay(from: Deno.TcpConn, to: Deno.TcpConn, take: (bytes: number) => Promise<void>): Promise<void> {
  const buffer = new Uint8Array(BUFFER_BYTES);
  for (;;) {
    const length = await from.read(buffer);
    if (length === null) return await to.closeWrite();
    await take(length);
    for (let sent = 0; sent < length;) sent += await to.write(buffer.subarray(sent, length));
  }
}
