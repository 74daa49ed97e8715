import { atMostEvery } from "@/lib/std/at_most_every.ts";
import { acceptConnections, type AcceptedSocket, type ConnectionTaker } from "./accept_connections.ts";
import { type Certificate, CertificateError, CertificateFiles, type CertificatePaths } from "./certificate_files.ts";
import { splice } from "./splice.ts";

/** How often the files of the certificate are looked at, ms. */
const CHECK_EVERY_MS = 3000;
/** Failures to begin a handshake are reported so often at most, ms. */
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
