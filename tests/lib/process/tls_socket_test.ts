import assert from "node:assert/strict";
import { Connections, DEFAULT_CONNECTION_LIMITS } from "@/lib/process/connections.ts";
import { acceptTlsConnections, CertificateError, drainingServer } from "@/lib/process/listener.ts";
import { serveConnection } from "@/lib/runtime/http.ts";
import { ManualClock } from "@/tests/manual_clock.ts";
import { OTHER_CERTIFICATE, OTHER_KEY, TEST_CA, TEST_CERTIFICATE, TEST_KEY } from "@/tests/lib/http/certificates.ts";
import { printedErrors } from "@/tests/printed_errors.ts";
import { removeAtEnd } from "@/tests/remove_at_end.ts";

const CHECK_EVERY_MS = 20;
const hello = () => new Response("hello");

interface Server {
  readonly port: number;
  readonly folder: string;
  readonly connections: Connections;
  readonly stderr: () => string;
}

/** More than the buffers of a connection hold, and less than those of all on the way, bytes. */
const LONG = 6 * 1024 * 1024;

/** A server with TLS whose certificate is in a folder; `/long` has a body of {@link LONG} bytes. */
async function withServer(
  test: (server: Server) => Promise<void>,
  limits = DEFAULT_CONNECTION_LIMITS,
): Promise<void> {
  assert.ok(serveConnection);
  const folder = await Deno.makeTempDir();
  const certificate = { certFile: `${folder}/tls.crt`, keyFile: `${folder}/tls.key` };
  await write(folder, TEST_CERTIFICATE, TEST_KEY);
  using printed = printedErrors();
  const connections = new Connections(
    serveConnection,
    limits,
    (request) => {
      const { protocol, pathname } = new URL(request.url);
      return pathname === "/long"
        ? new Response(new Uint8Array(LONG), { headers: { Connection: "close" } })
        : new Response(protocol);
    },
  );
  const socket = acceptTlsConnections(
    { hostname: "127.0.0.1", port: 0, certificate, checkEveryMs: CHECK_EVERY_MS },
    connections,
  );
  try {
    await test({ port: socket.port, folder, connections, stderr: () => printed.lines.join("\n") });
  } finally {
    socket.close();
    await socket.ended;
    connections.cut();
    await connections.shutdown();
    await Deno.remove(folder, { recursive: true });
  }
}

function testTls(name: string, ...given: Parameters<typeof withServer>): void {
  Deno.test(name, () => withServer(...given));
}

async function write(folder: string, cert: string, key: string): Promise<void> {
  await Deno.writeTextFile(`${folder}/tls.key`, key);
  await Deno.writeTextFile(`${folder}/tls.crt`, cert);
}

/** A client that trusts the authority of the tests, or another one. */
function client(caCert = TEST_CA): Deno.HttpClient {
  return Deno.createHttpClient({ caCerts: [caCert] });
}

async function get(port: number, using: Deno.HttpClient): Promise<string> {
  const response = await fetch(`https://127.0.0.1:${port}/`, { client: using });
  return await response.text();
}

/** Reads until the other side ends the connection; an alert of TLS may come first. */
async function ended(connection: Deno.TcpConn): Promise<void> {
  const chunk = new Uint8Array(256);
  let length: number | null = 0;
  while (length !== null) length = await connection.read(chunk).catch(() => null);
}

async function until(isTrue: () => Promise<boolean> | boolean): Promise<void> {
  while (!await isTrue()) await new Promise((resolve) => setTimeout(resolve, CHECK_EVERY_MS));
}

testTls(
  "TLS: a new certificate that cannot be used is reported once, and the old one stays in use",
  async ({ port, folder, stderr }) => {
    await write(folder, OTHER_CERTIFICATE, TEST_KEY);
    await until(() => stderr().includes("KeyMismatch"));
    using https = client();
    assert.equal(await get(port, https), "https:");
    await Deno.remove(`${folder}/tls.key`);
    await write(folder, OTHER_CERTIFICATE, OTHER_KEY);
    await until(() => stderr().includes("was replaced"));
    assert.equal(stderr().match(/KeyMismatch/g)?.length, 1, stderr());
    assert.ok(!stderr().includes("PRIVATE KEY"));
  },
);

Deno.test("TLS: a client that does not shake hands, or speaks plain HTTP, is cut off and disturbs no other", async () => {
  // By a clock that the test advances, since a handshake on a slow machine takes longer than the silent one has.
  using clock = new ManualClock();
  await withServer(async ({ port }) => {
    using silent = await Deno.connect({ hostname: "127.0.0.1", port });
    using plain = await Deno.connect({ hostname: "127.0.0.1", port });
    await plain.write(new TextEncoder().encode("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    using https = client();
    assert.equal(await get(port, https), "https:");
    // Again and again, since the handshake of the silent one may begin later than that of the other.
    for (const connection of [silent, plain]) await clock.passDuring(100, ended(connection));
    assert.equal(await get(port, https), "https:");
  }, { ...DEFAULT_CONNECTION_LIMITS, headMs: 100 });
});

Deno.test("TLS: a certificate that cannot be used ends the start, and a port in use stays an error of its own", async () => {
  const folder = await Deno.makeTempDir();
  const certificate = { certFile: `${folder}/tls.crt`, keyFile: `${folder}/tls.key` };
  const taker = { count: 0, add: () => {} };
  const accept = (port: number) => acceptTlsConnections({ hostname: "127.0.0.1", port, certificate }, taker);
  using _removal = removeAtEnd(folder);
  assert.throws(() => accept(0), CertificateError);
  await write(folder, TEST_CERTIFICATE, OTHER_KEY);
  assert.throws(() => accept(0), CertificateError);
  const unlimited = { hostname: "127.0.0.1", port: 0, certificate, serve: null };
  assert.throws(() => drainingServer(unlimited, hello, hello), CertificateError);
  await write(folder, TEST_CERTIFICATE, TEST_KEY);
  const socket = accept(0);
  assert.throws(() => accept(socket.port), Deno.errors.AddrInUse);
  socket.close();
  await socket.ended;
});

testTls("TLS: a handshake that cannot begin is reported and leaves no connection open", async ({ port, stderr }) => {
  const { connect, listenTls } = Deno;
  const inner: Deno.TcpConn[] = [];
  Reflect.set(Deno, "connect", async (options: Deno.ConnectOptions) => {
    inner.push(await connect(options));
    return inner[0];
  });
  Reflect.set(Deno, "listenTls", (options: Parameters<typeof listenTls>[0]) => {
    const listener = listenTls(options);
    const accept = () => {
      listener.close();
      return Promise.reject(new Deno.errors.BadResource("closed"));
    };
    return Object.assign(listener, { accept });
  });
  try {
    using client = await connect({ hostname: "127.0.0.1", port });
    assert.equal(await client.read(new Uint8Array(1)), null);
  } finally {
    Object.assign(Deno, { connect, listenTls });
  }
  assert.match(stderr(), /a handshake cannot begin \(BadResource: closed\)/);
  assert.equal(inner.length, 1);
  await assert.rejects(inner[0].read(new Uint8Array(1)), Deno.errors.BadResource, "it was closed");
});

/** A client that has requested `/long` and reads nothing of it by itself. */
async function requestLong(port: number): Promise<Deno.TlsConn> {
  const connection = await Deno.connectTls({ hostname: "127.0.0.1", port, caCerts: [TEST_CA] });
  await connection.write(new TextEncoder().encode("GET /long HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  await connection.read(new Uint8Array(1));
  return connection;
}

testTls("TLS: a drain waits until a client has taken all of its response", async ({ port, connections }) => {
  using connection = await requestLong(port);
  let drained = false;
  const shutdown = connections.shutdown().then(() => drained = true);
  let bytes = 1;
  const chunk = new Uint8Array(256 * 1024);
  for (let length: number | null = 0; length !== null; length = await connection.read(chunk)) {
    if (bytes < LONG / 8) assert.equal(drained, false);
    bytes += length;
  }
  assert.ok(bytes > LONG, String(bytes));
  await shutdown;
});

Deno.test("TLS: a response that is not read holds its slot until it is broken off", async () => {
  const responses = { idleMs: 100, minBytesPerSecond: 1024 ** 3, slackMs: 100 };
  using clock = new ManualClock();
  await withServer(async ({ port, connections }) => {
    using connection = await requestLong(port);
    assert.equal(connections.count, 1);
    await clock.passDuring(100, until(() => connections.count === 0));
    const chunk = new Uint8Array(256 * 1024);
    let bytes = 0;
    for (let length: number | null = 0; length !== null; length = await connection.read(chunk).catch(() => null)) {
      bytes += length;
    }
    assert.ok(bytes < LONG, String(bytes));
  }, { ...DEFAULT_CONNECTION_LIMITS, idleMs: 100, responses });
});
