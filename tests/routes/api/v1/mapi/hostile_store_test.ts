import assert from "node:assert/strict";
import { storeIdentities } from "@/lib/auth/store_credentials.ts";
import { addressesAt, nowhere, withGateway } from "@/tests/routes/gateway_fixture.ts";

const PATH = "/api/v1/mapi/tenants/archive/contactInfo";
const TIMEOUT_MS = 300;

type Connection = Deno.Conn;

/** A store that does what `behave` says with every connection that sent something, until the body ends. */
async function withHostileStore(
  behave: (connection: Connection) => Promise<unknown>,
  body: (origin: string) => Promise<void>,
): Promise<void> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Connection>();
  const serving = (async () => {
    for await (const connection of listener) {
      open.add(connection);
      connection.read(new Uint8Array(65536)).then(() => behave(connection)).catch(() => {
        // The gateway hung up, as it should on most of what is sent here.
      });
    }
  })();
  try {
    await body(`http://127.0.0.1:${listener.addr.port}`);
  } finally {
    listener.close();
    for (const connection of open) close(connection);
    await serving;
  }
}

function close(connection: Connection): void {
  try {
    connection.close();
  } catch {
    // It is closed already.
  }
}

const text = (value: string) => new TextEncoder().encode(value);

async function flood(connection: Connection, head: string, bytes: number): Promise<number> {
  const block = new Uint8Array(1024 * 1024).fill(0x20);
  await connection.write(text(head));
  let sent = 0;
  for (; sent < bytes; sent += block.length) {
    for (let at = 0; at < block.length;) at += await connection.write(block.subarray(at));
  }
  return sent;
}

const ANSWERS: [what: string, behave: (connection: Connection) => Promise<unknown>, status: number, detail: string][] =
  [
    [
      "no HTTP at all",
      async (c) => {
        await c.write(text("SSH-2.0-OpenSSH_9.6\r\n"));
        c.close();
      },
      502,
      "HCP connection error",
    ],
    ["nothing", () => Promise.resolve(), 504, "HCP timed out"],
    [
      "a cut before the headers end",
      async (c) => {
        await c.write(text("HTTP/1.1 200 OK\r\nContent-Le"));
        c.close();
      },
      502,
      "HCP connection error",
    ],
    [
      "a cut in the body",
      async (c) => {
        await c.write(text('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"city":'));
        c.close();
      },
      502,
      "HCP connection error",
    ],
    [
      "a body that stops",
      (c) => c.write(text('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"city":')),
      504,
      "HCP timed out",
    ],
    [
      "a redirect elsewhere",
      (c) => c.write(text("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n")),
      404,
      "tenant 'archive' not found or no permission",
    ],
    [
      "a record of another shape",
      (c) => c.write(text('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{"city":5}')),
      502,
      "tenant 'archive': the store's answer is not MAPI's",
    ],
  ];

for (const [what, behave, status, detail] of ANSWERS) {
  Deno.test(`hostile store: ${what} is a clear ${status}`, async () => {
    await withHostileStore(behave, (origin) =>
      withGateway({
        // Only those that end by the timeout get a short one.
        timeoutMs: status === 504 ? TIMEOUT_MS : undefined,
        gateway: { addresses: addressesAt(origin) },
      }, async ({ call }) => {
        const response = await call(PATH);
        assert.deepEqual([response.status, await response.json()], [status, { detail }]);
      }));
  });
}

Deno.test("hostile store: where a record is due, 100 MB are cut off after a few", async () => {
  const sent = Promise.withResolvers<number>();
  const behave = async (connection: Connection) => {
    let bytes = 0;
    try {
      bytes = await flood(connection, "HTTP/1.1 200 OK\r\nContent-Length: 104857600\r\n\r\n", 100 * 1024 * 1024);
    } catch {
      // The connection was cut, as it should.
    }
    sent.resolve(bytes);
  };
  await withHostileStore(
    behave,
    (origin) =>
      withGateway({ gateway: { addresses: addressesAt(origin) } }, async ({ call }) => {
        const response = await call(PATH);
        const detail = "HCP connection error: more than 8388608 bytes";
        assert.deepEqual([response.status, await response.json()], [502, { detail }]);
        assert.equal(await sent.promise, 0);
      }),
  );
});

Deno.test("hostile store: an address without a server is 502", async () => {
  await withGateway({ gateway: { addresses: nowhere() } }, async ({ call }) => {
    const response = await call(PATH);
    assert.deepEqual([response.status, await response.json()], [502, { detail: "HCP unreachable" }]);
  });
});

Deno.test("management: a client that goes away ends the request to the store", async () => {
  const asked = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  await withHostileStore(async (connection) => {
    asked.resolve();
    const more = await connection.read(new Uint8Array(1)).catch(() => null);
    if (more === null) ended.resolve();
  }, (origin) =>
    withGateway({ gateway: { addresses: addressesAt(origin) } }, async ({ call }) => {
      const leaving = new AbortController();
      const answer = call(PATH, { signal: leaving.signal });
      await asked.promise;
      leaving.abort();
      await assert.rejects(answer);
      await ended.promise;
    }));
});

Deno.test("management: under `ad` the store is sent the user name and the password as they are", async () => {
  await withGateway({ identify: storeIdentities("ad") }, async ({ call, answer, seen }) => {
    answer(() => new Response("{}"));
    await (await call(PATH)).body?.cancel();
    assert.equal(seen[0].headers.get("authorization"), "AD curator:p4ssw0rd");
  });
});
