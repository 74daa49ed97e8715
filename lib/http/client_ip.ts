/** What `Deno.serve` tells about the connection; absent where a test calls the app without a network. */
export interface ConnectionInfo {
  readonly remoteAddr?: Deno.Addr;
}

/** The peer's address, or null where the connection has none. Forwarded headers are not believed here. */
export function clientIp(info: ConnectionInfo | undefined): string | null {
  const address = info?.remoteAddr;
  return address && "hostname" in address ? address.hostname : null;
}
