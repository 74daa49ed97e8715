/**
 * Below the ephemeral ports, which systems assign to servers that ask for port 0 and to clients: a test beside this one
 * could get such a port before the server of this one listens, or while it is down.
 */
const [FIRST_PORT, PORTS] = [20_000, 10_000];

/** A port of loopback that nothing listens on: for a server that starts later or starts again, or for none. */
export function freePort(): number {
  for (;;) {
    const port = FIRST_PORT + Math.floor(Math.random() * PORTS);
    try {
      Deno.listen({ hostname: "127.0.0.1", port }).close();
      return port;
    } catch (error) {
      if (!(error instanceof Deno.errors.AddrInUse)) throw error;
    }
  }
}
