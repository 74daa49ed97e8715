import type { TakeReader } from "./body_reader.ts";

/** Handles a request of a listening server. */
export type HostHandler = (
  request: Request,
  connection: { readonly remoteAddr: Deno.NetAddr },
) => Response | Promise<Response>;

/** A listening server that can end without breaking off what it is doing. */
export interface RunningServer {
  readonly port: number;
  /** Hands new requests to the handler `refuse`, and resolves when those under way, bodies included, have ended. */
  drain(): Promise<void>;
  /** Breaks off what is under way: bodies end, signals abort, and {@link drain} waits until the handlers have cleaned up. */
  cut(): void;
}

/** How a process serves HTTP: the argument of servers that do not depend on its listener. */
export interface HttpHost {
  /**
   * @param address port 0: any free one
   * @param refuse returns the response to requests that arrive while the server drains
   * @throws Deno.errors.AddrInUse and the other errors of listening
   */
  listen(
    address: { readonly hostname: string; readonly port: number },
    handler: HostHandler,
    refuse: HostHandler,
  ): RunningServer;
  readonly bodyReader: TakeReader;
}

/** Names by which programs and pages of this machine reach a server. */
export const LOOPBACK_NAMES: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** The host that a request names, in lower case and without its port; "" where it names none. */
export function requestedHost({ headers }: Request): string {
  return (headers.get("host") ?? "").replace(/:\d*$/, "").toLowerCase();
}

/** A host name or address as URLs write it: an IPv6 address in brackets. */
export function urlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host.toLowerCase();
}
