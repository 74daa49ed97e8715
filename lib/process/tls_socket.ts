import {
  acceptConnections,
  type AcceptedSocket,
  type ConnectionOrigin,
  type ConnectionTaker,
} from "./accept_connections.ts";
import { type Certificate, CertificateFiles, type CertificatePaths } from "./certificate_files.ts";
import { splice } from "./splice.ts";

/** How often the files of the certificate are looked at, ms. */
const CHECK_EVERY_MS = 3000;
/** A connection to the listener on loopback that is not one of ours is closed after this time, ms. */
const EXPECTED_WITHIN_MS = 5000;
const LOOPBACK = "127.0.0.1";

interface TlsSocketOptions {
  readonly hostname: string;
  /** 0: any free one. */
  readonly port: number;
  readonly certificate: CertificatePaths;
  /** ms; {@link CHECK_EVERY_MS} when absent */
  readonly checkEveryMs?: number;
}

/** Raised when a certificate and its key cannot be used; the message says why, without their content. */
export class CertificateError extends Error {
  override readonly name = "CertificateError";
}

/**
 * Accepts connections with TLS. Their bytes pass through a listener on loopback that shakes hands, for two reasons: the
 * runtime cannot close a connection whose handshake does not end, and cannot change the certificate of a listener. Here
 * the connection of the client is an own one that can be closed at any time, and a new certificate has a new listener.
 * Open connections stay. A new certificate that cannot be used is reported once, and the old one stays.
 *
 * @throws {CertificateError} when the first certificate cannot be used
 * @throws {Deno.errors.AddrInUse} and the other errors of listening
 */
export function acceptTlsConnections(options: TlsSocketOptions, taker: ConnectionTaker): AcceptedSocket {
  const { hostname, port, certificate, checkEveryMs = CHECK_EVERY_MS } = options;
  const files = new CertificateFiles(certificate);
  let handshakes = new Handshakes(readCertificate(files), taker);
  const socket = acceptConnections(
    Deno.listen({ hostname, port }),
    (client) => handshakes.begin(client),
    () => taker.count,
  );

  const renew = () => {
    if (!files.hasChanged()) return;
    try {
      const next = new Handshakes(readCertificate(files), taker);
      handshakes.close();
      handshakes = next;
      console.error("TLS_CERT_FILE: the certificate was replaced, new connections use the new one");
    } catch (error) {
      const reason = error instanceof Error ? error.message : error;
      console.error(`TLS_CERT_FILE: the new certificate cannot be used (${reason}), the old one stays in use`);
    }
  };
  const timer = setInterval(renew, checkEveryMs);
  return {
    port: socket.port,
    close() {
      clearInterval(timer);
      socket.close();
      handshakes.close();
    },
    ended: socket.ended,
  };
}

/** The listener on loopback that shakes hands with one certificate. */
class Handshakes {
  readonly #listener: Deno.TlsListener;
  readonly #socket: AcceptedSocket;
  readonly #taker: ConnectionTaker;
  /** Connections to the listener that it has not accepted yet, by their own port. */
  readonly #expected = new Map<number, PromiseWithResolvers<ConnectionOrigin | null>>();
  /** Clients whose connection to the listener is not accepted yet. */
  #pending = 0;
  #closing = false;

  constructor(certificate: Certificate, taker: ConnectionTaker) {
    this.#listener = listenTls(certificate);
    this.#taker = taker;
    this.#socket = acceptConnections(
      this.#listener,
      (connection) => void this.#accepted(connection),
      () => taker.count,
    );
  }

  /** Leads a client's bytes through the handshake. */
  async begin(client: Deno.TcpConn): Promise<void> {
    this.#pending++;
    let inner: Deno.TcpConn;
    try {
      inner = await Deno.connect({ hostname: LOOPBACK, port: this.#listener.addr.port });
    } catch (error) {
      // Without descriptors there is no second connection for it.
      console.error(`connections: one was closed, since its handshake cannot begin (${error})`);
      client.close();
      this.#left();
      return;
    }
    const close = splice(client, inner);
    this.#expect(inner.localAddr.port).resolve({ peer: client.remoteAddr, close });
  }

  /** Ends when the clients that have begun are accepted. */
  close(): void {
    this.#closing = true;
    if (this.#pending === 0) this.#socket.close();
  }

  async #accepted(connection: Deno.TlsConn): Promise<void> {
    const { port } = connection.remoteAddr;
    const expected = this.#expect(port);
    const timer = setTimeout(() => expected.resolve(null), EXPECTED_WITHIN_MS);
    const origin = await expected.promise;
    clearTimeout(timer);
    this.#expected.delete(port);
    // Another program of this machine found the port.
    if (origin === null) return connection.close();
    this.#left();
    this.#taker.add(connection, origin);
  }

  /** Both sides come here first or last: the runtime accepts a connection before or after the other side is connected. */
  #expect(port: number): PromiseWithResolvers<ConnectionOrigin | null> {
    let expected = this.#expected.get(port);
    if (!expected) {
      expected = Promise.withResolvers();
      this.#expected.set(port, expected);
    }
    return expected;
  }

  #left(): void {
    this.#pending--;
    if (this.#closing && this.#pending === 0) this.#socket.close();
  }
}

function readCertificate(files: CertificateFiles): Certificate {
  try {
    return files.read();
  } catch (error) {
    throw new CertificateError(error instanceof Error ? error.message : String(error));
  }
}

function listenTls(certificate: Certificate): Deno.TlsListener {
  try {
    return Deno.listenTls({ hostname: LOOPBACK, port: 0, ...certificate, alpnProtocols: ["h2", "http/1.1"] });
  } catch (error) {
    // The runtime has several classes of errors for certificates.
    throw new CertificateError(error instanceof Error ? error.message : String(error));
  }
}
