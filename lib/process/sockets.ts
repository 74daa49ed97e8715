import { fileIdentity } from "@/lib/std/files.ts";
import { atMostEvery, sleep } from "@/lib/std/timing.ts";

/** A connection with plain HTTP, or one with TLS whose handshake may not be done. */
export type AcceptedConnection = Deno.TcpConn | Deno.TlsConn;

/** The client's side of a connection whose bytes are passed on to it. */
export interface ConnectionOrigin extends Splice {
  readonly peer: Deno.NetAddr;
}

/** A listening socket whose connections are handed out. */
interface AcceptedSocket {
  readonly port: number;
  /** Accepts nothing more; connections that are open stay. */
  close(): void;
  /** Resolves when the last connection was handed out. */
  readonly ended: Promise<void>;
}

/** Takes the connections of a socket. */
interface ConnectionTaker {
  /** How many it holds. */
  readonly count: number;
  /** @param origin where the connection does not know it itself */
  add(connection: AcceptedConnection, origin?: ConnectionOrigin): void;
}

/** Delay after an error before the next connection is accepted, ms: without descriptors each try would fail at once. */
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

/** Bytes of a buffer while little is sent. There are two of them for each connection. */
const SMALL_BUFFER = 4 * 1024;
const LARGE_BUFFER = 64 * 1024;

/** Two connections whose bytes are passed on to each other. */
interface Splice {
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
function splice(client: Deno.TcpConn, inner: Deno.TcpConn): Splice {
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

/** A certificate chain and its private key, as PEM. */
interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Where a server's certificate chain and private key are, as PEM files. */
export interface CertificatePaths {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Raised when a certificate and its key cannot be used; the message says why, without their content. */
export class CertificateError extends Error {
  override readonly name = "CertificateError";
}

/** The certificate in two files that others replace while the server runs. */
export class CertificateFiles {
  /** The files of the last certificate that could be used. */
  #used: string | null = null;

  constructor(private readonly paths: CertificatePaths) {
  }

  /** The certificate. @throws {CertificateError} when it cannot be read or used */
  read(): Certificate {
    const { certFile, keyFile } = this.paths;
    try {
      // Before the files are read: a replacement in between is noticed by the next look.
      const identity = this.#identity();
      const certificate = { cert: Deno.readTextFileSync(certFile), key: Deno.readTextFileSync(keyFile) };
      tryOut(certificate);
      this.#used = identity;
      return certificate;
    } catch (error) {
      throw new CertificateError(error instanceof Error ? error.message : String(error));
    }
  }

  /** Whether the files are others than those that {@link read} last returned; false where one cannot be looked at. */
  hasChanged(): boolean {
    try {
      return this.#identity() !== this.#used;
    } catch {
      return false;
    }
  }

  #identity(): string {
    return [this.paths.certFile, this.paths.keyFile].map((path) => fileIdentity(Deno.statSync(path))).join();
  }
}

/** Opens a listener, since only that shows whether the runtime can use a certificate and its key. */
function tryOut(certificate: Certificate): void {
  Deno.listenTls({ hostname: "127.0.0.1", port: 0, ...certificate }).close();
}

/** How often the files of the certificate are looked at, ms. */
const CHECK_EVERY_MS = 3000;
/** Shortest time between two reports of failed handshakes, ms. */
const REPORT_EVERY_MS = 60_000;
const LOOPBACK = "127.0.0.1";

interface TlsSocketOptions {
  readonly hostname: string;
  /** 0: any free one. */
  readonly port: number;
  readonly certificate: CertificatePaths;
  /** ms; {@link CHECK_EVERY_MS} when absent */
  readonly checkEveryMs?: number;
}

/**
 * Accepts connections with TLS. Their bytes pass through a connection on loopback that shakes hands, for two reasons: the
 * runtime cannot close a connection whose handshake does not end, and cannot change the certificate of a listener. Here
 * the client's connection is plain TCP, which can be closed at any time, and a new certificate is used from the next
 * connection on. Open connections stay. A new certificate that cannot be used is reported once, and the old one stays.
 *
 * @throws {CertificateError} when the first certificate cannot be used
 * @throws {Deno.errors.AddrInUse} and the other errors of listening
 */
export function acceptTlsConnections(options: TlsSocketOptions, taker: ConnectionTaker): AcceptedSocket {
  const { hostname, port, certificate, checkEveryMs = CHECK_EVERY_MS } = options;
  const files = new CertificateFiles(certificate);
  let current = files.read();
  const mayReport = atMostEvery(REPORT_EVERY_MS);
  const beginning = new Set<Promise<void>>();
  const begin = (client: Deno.TcpConn) => {
    const handshake = beginHandshake(client, current, taker).catch((error) => {
      client.close();
      if (mayReport()) console.error(`connections: a handshake cannot begin (${error}), ${taker.count} are open`);
    }).finally(() => beginning.delete(handshake));
    beginning.add(handshake);
  };
  const socket = acceptConnections(Deno.listen({ hostname, port }), begin, () => taker.count);

  let failure: { readonly message: string; readonly isReported: boolean } | null = null;
  const renew = () => {
    if (!files.hasChanged()) return;
    try {
      current = files.read();
      failure = null;
      console.error("TLS_CERT_FILE: the certificate was replaced, new connections use the new one");
    } catch (error) {
      if (!(error instanceof CertificateError)) throw error;
      const { message } = error;
      // Between the replacements of the two files they do not fit: only what the next look finds as well is reported.
      const isReported = failure?.message === message;
      if (isReported && !failure?.isReported) {
        console.error(`TLS_CERT_FILE: the new certificate cannot be used (${message}), the old one stays in use`);
      }
      failure = { message, isReported };
    }
  };
  const timer = setInterval(renew, checkEveryMs);
  return {
    port: socket.port,
    close() {
      clearInterval(timer);
      socket.close();
    },
    ended: socket.ended.then(async () => {
      await Promise.all(beginning);
    }),
  };
}

/**
 * Passes a client's bytes through a listener that is open for this one connection. Where another program of this machine
 * connects to it first, all are closed.
 */
async function beginHandshake(client: Deno.TcpConn, certificate: Certificate, taker: ConnectionTaker): Promise<void> {
  // HTTP/1.1 alone: where a response must be broken off, its connection is, and HTTP/2 would share it with others.
  const alpnProtocols = ["http/1.1"];
  using listener = Deno.listenTls({ hostname: LOOPBACK, port: 0, ...certificate, alpnProtocols });
  const inner = await Deno.connect({ hostname: LOOPBACK, port: listener.addr.port });
  const connection = await listener.accept().catch((error) => {
    inner.close();
    throw error;
  });
  const { hostname, port } = connection.remoteAddr;
  if (hostname !== LOOPBACK || port !== inner.localAddr.port) {
    inner.close();
    connection.close();
    throw new Error("another program connected in its place");
  }
  taker.add(connection, { peer: client.remoteAddr, ...splice(client, inner) });
}
