import { type ServeConnection, serveConnection } from "@/lib/runtime/http.ts";
import { fileIdentity } from "@/lib/std/files.ts";
import type { RunningServer } from "@/lib/std/http_host.ts";
import { atMostEvery } from "@/lib/std/timing.ts";
import {
  acceptConnections,
  type AcceptedSocket,
  type ConnectionFigures,
  type ConnectionLimits,
  Connections,
  type ConnectionTaker,
  countedHandler,
  DEFAULT_CONNECTION_LIMITS,
  faultResponse,
  type Handler,
  type Splice,
} from "./connections.ts";

/** Raised when the site's address cannot be listened on; the message is one line with the way out. */
export class ListenError extends Error {
  override readonly name = "ListenError";
}

/** Where to listen and how. */
interface ListenOptions {
  /** A name or an address, IPv6 without brackets. */
  readonly host: string;
  /** 0: any free one. */
  readonly port: number;
  /** The setting of the port, for messages; `PORT` when absent. */
  readonly portSetting?: string;
  /** The setting of the host; `HOST` when absent. */
  readonly hostSetting?: string;
  readonly connections?: ConnectionLimits;
  /** Serves HTTPS; null or absent: plain HTTP. */
  readonly certificate?: CertificatePaths | null;
}

/** The handlers while there is no application. */
interface FallbackHandlers {
  /** Before {@link Listener.answerWith}. */
  readonly starting: Handler;
  /** Once the server drains. */
  readonly stopping: Handler;
}

/** A listening server whose handler may come later: an early request gets 503 with Retry-After. */
interface Listener extends DrainingServer {
  /** The address as a browser uses it, without a trailing slash. */
  readonly origin: string;
}

/**
 * Listens at once, so that a taken port ends a start before any of its servers run.
 *
 * @throws {ListenError}
 */
export function listen(
  { host, port, portSetting = "PORT", hostSetting = "HOST", connections, certificate }: ListenOptions,
  fallbacks: FallbackHandlers,
): Listener {
  const { starting, stopping } = fallbacks;
  let server: DrainingServer;
  try {
    const options = { hostname: host, port, limits: connections, certificate };
    server = drainingServer(options, starting, stopping);
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) {
      throw new ListenError(
        `${portSetting}: ${port} is taken on ${host}: stop the program that holds it, or set another ${portSetting}`,
      );
    }
    if (error instanceof Deno.errors.PermissionDenied) {
      throw new ListenError(`${portSetting}: ${port} may not be used by this account: set one above 1023`);
    }
    if (error instanceof CertificateError && certificate) {
      const { certFile, keyFile } = certificate;
      throw new ListenError(
        `TLS_CERT_FILE: ${certFile} and TLS_KEY_FILE: ${keyFile} cannot be used (${error.message}): ` +
          "set a PEM certificate chain and its PEM private key",
      );
    }
    throw new ListenError(
      `${hostSetting}: ${host} cannot be listened on (${error instanceof Error ? error.message : error}): ` +
        `set another ${hostSetting}`,
    );
  }
  return {
    ...server,
    origin: `${certificate ? "https" : "http"}://${shownHost(host)}:${server.port}`,
  };
}

/** The host in URLs: `localhost` for a wildcard address. */
function shownHost(hostname: string): string {
  if (hostname === "0.0.0.0" || hostname === "::") return "localhost";
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}

/** A server that says how many connections it has. */
export interface DrainingServer extends RunningServer {
  /** Whether {@link ConnectionLimits} hold; false where the runtime cannot serve single connections. */
  readonly limitsConnections: boolean;
  /** Null where the runtime cannot serve single connections. */
  connections(): ConnectionFigures | null;
  /** Sets the handler of requests from now on. */
  answerWith(handler: Handler): void;
}

interface DrainingServerOptions {
  readonly hostname: string;
  /** 0: any free one. */
  readonly port: number;
  readonly limits?: ConnectionLimits;
  /** Serves HTTPS with the certificate in these files; null or absent: plain HTTP. */
  readonly certificate?: CertificatePaths | null;
  /** The function that serves HTTP on a connection; null: `Deno.serve` does everything, without limits. */
  readonly serve?: ServeConnection | null;
}

/** A listening server, which does not count its requests. */
type Server = Pick<DrainingServer, "port" | "connections" | "cut"> & { shutdown(): Promise<void> };

/**
 * Serves HTTP until it is drained. The runtime's own `shutdown` breaks off request bodies that are still arriving, so
 * handlers are counted here, and the server is shut down when the last one has responded.
 *
 * @param refuse returns the response to what arrives while the server drains; `Connection: close` is added
 * @throws {CertificateError}
 * @throws Deno.errors.AddrInUse and the other errors of listening
 */
export function drainingServer(options: DrainingServerOptions, handler: Handler, refuse: Handler): DrainingServer {
  const { serve = serveConnection, limits = DEFAULT_CONNECTION_LIMITS } = options;
  const counted = countedHandler(handler, refuse);
  const server = serve ? limitedServer(options, serve, limits, counted.handle) : plainServer(options, counted.handle);
  return {
    port: server.port,
    limitsConnections: serve !== null,
    connections: () => server.connections(),
    answerWith: counted.handleBy,
    async drain() {
      await counted.drain();
      await server.shutdown();
    },
    cut: () => server.cut(),
  };
}

function limitedServer(
  { hostname, port, certificate }: DrainingServerOptions,
  serve: ServeConnection,
  limits: ConnectionLimits,
  handler: Handler,
): Server {
  const connections = new Connections(serve, limits, handler);
  const socket = certificate ? acceptTlsConnections({ hostname, port, certificate }, connections) : acceptConnections(
    Deno.listen({ hostname, port }),
    connections,
  );
  return {
    port: socket.port,
    connections: () => connections.figures,
    async shutdown() {
      socket.close();
      await socket.ended;
      await connections.shutdown();
    },
    cut() {
      socket.close();
      connections.cut();
    },
  };
}

function plainServer({ hostname, port, certificate }: DrainingServerOptions, handler: Handler): Server {
  const cut = new AbortController();
  // Here a new certificate takes effect at the next start.
  const tls = certificate ? new CertificateFiles(certificate).read() : {};
  const server = Deno.serve(
    { hostname, port, ...tls, signal: cut.signal, onListen() {}, onError: faultResponse },
    handler,
  );
  return { port: server.addr.port, connections: () => null, shutdown: () => server.shutdown(), cut: () => cut.abort() };
}

/** Bytes of a buffer while little is sent. There are two of them for each connection. */
const SMALL_BUFFER = 4 * 1024;
const LARGE_BUFFER = 64 * 1024;

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
interface CertificatePaths {
  readonly certFile: string;
  readonly keyFile: string;
}

/** Raised when a certificate and its key cannot be used; the message says why, without their content. */
export class CertificateError extends Error {
  override readonly name = "CertificateError";
}

/** The certificate in two files that others replace while the server runs. */
class CertificateFiles {
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
  const socket = acceptConnections(Deno.listen({ hostname, port }), {
    add: begin,
    get count() {
      return taker.count;
    },
  });

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
