/**
 * Below the ports that systems give to whoever asks for any: such a port could be another test's a moment later, or while
 * the server that had it is down.
 */
const [FIRST_PORT, PORTS] = [20_000, 10_000];

/** A port of loopback that nothing listens on, for a server that is started later, again, or never. */
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
