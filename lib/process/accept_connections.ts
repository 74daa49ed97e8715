import { sleep } from "@/lib/std/sleep.ts";
import type { Splice } from "./splice.ts";

/** A connection with plain HTTP, or one with TLS whose handshake may not be done. */
export type AcceptedConnection = Deno.TcpConn | Deno.TlsConn;

/** The client's side of a connection whose bytes are passed on to it. */
export interface ConnectionOrigin extends Splice {
  readonly peer: Deno.NetAddr;
}

/** A listening socket whose connections are handed out. */
export interface AcceptedSocket {
  readonly port: number;
  /** Accepts nothing more; connections that are open stay. */
  close(): void;
  /** Resolves when the last connection was handed out. */
  readonly ended: Promise<void>;
}

/** What takes the connections of a socket. */
export interface ConnectionTaker {
  /** How many it holds. */
  readonly count: number;
  /** @param origin where the connection does not know it itself */
  add(connection: AcceptedConnection, origin?: ConnectionOrigin): void;
}

/** How long after an error the next connection is accepted, ms: without descriptors each try would fail at once. */
const AFTER_ERROR_MS = 100;

/** Hands each connection of a listener to `take` until it is closed. `count` says how many are open. */
export function acceptConnections<C extends Deno.Conn<Deno.NetAddr>>(
  listener: Deno.Listener<C, Deno.NetAddr>,
  take: (connection: C) => void,
  count: () => number,
): AcceptedSocket {
  let closed = false;
  const accept = async () => {
    let failing = false;
    while (!closed) {
      try {
        take(await listener.accept());
        failing = false;
      } catch (error) {
        if (closed) return;
        if (!failing) console.error(`connections: none can be accepted (${error}), ${count()} are open`);
        failing = true;
        await sleep(AFTER_ERROR_MS);
      }
    }
  };
  return {
    port: listener.addr.port,
    close() {
      if (closed) return;
      closed = true;
      listener.close();
    },
    ended: accept(),
  };
}
