import { ListMultipartUploadsCommand } from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { type Application, gatewayOf, startApplication, StartError, STORAGE_ONLY } from "@/tests/application.ts";
import { until } from "@/tests/until.ts";
import { type GatewayClient, logIn, madeBody, putMade, storeClient } from "./gateway_client.ts";

async function refusedStart(options: Parameters<typeof startApplication>[0]): Promise<string> {
  try {
    const application = await startApplication(options);
    await application.stop();
  } catch (error) {
    if (error instanceof StartError) return error.output.trimEnd();
    throw error;
  }
  return "it started";
}

Deno.test("start: a taken port ends it with one line that names the way out", async () => {
  using other = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = other.addr as Deno.NetAddr;
  const output = await refusedStart({ env: { PORT: String(port) } });
  assert.match(output, new RegExp(`^PORT: ${port} is taken.*another PORT$`));
});

Deno.test("start: an unwritable data folder ends it with one line that names the way out", async () => {
  const file = await Deno.makeTempFile();
  const output = await refusedStart({ dataFolder: `${file}/below` });
  await Deno.remove(file);
  assert.match(output, /^The data folder .* cannot be written .* DATA_DIR .*$/);
});

Deno.test("start: a store that may truncate uploads and has none in parts ends it, unless a setting accepts that", async () => {
  await using store = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    () => new Response(null, { status: 501 }),
  );
  const env = {
    EMBEDDED: "off",
    ROLES: "gateway",
    STORAGE_BACKEND: "generic",
    S3_ENDPOINT_URL: `http://127.0.0.1:${store.addr.port}`,
    API_SECRET_KEY: "a secret that only tests know, 32+",
  };
  assert.match(
    await refusedStart({ env }),
    /^S3_ENDPOINT_URL: .* no uploads in parts: .*S3_ALLOW_TRUNCATED_UPLOADS=true$/m,
  );
  const application = await startApplication({ env: { ...env, S3_ALLOW_TRUNCATED_UPLOADS: "true" } });
  assert.match(application.output(), /^S3_ALLOW_TRUNCATED_UPLOADS: true, .*$/m);
  await application.stop();
});

Deno.test("stop: uploads under way end well, by both ways, one that stalls is cut, and a Ctrl-C that two processes send counts once", async () => {
  const application = await startApplication({ env: STORAGE_ONLY });
  const curator = await logIn(application.site, "archive/curator");
  const presigned = await curator.json("POST", "/presign", {
    bucket: "letters",
    key: "by link",
    method: "put_object",
  });
  const { port } = new URL(application.site);
  using stalled = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
  const [part] = madeBody(1024 * 1024, 1);
  await stalled.write(
    new TextEncoder().encode(
      `PUT /api/v1/buckets/letters/objects/stalled HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n` +
        `Authorization: ${curator.authorization}\r\nContent-Length: 2000000\r\n\r\n`,
    ),
  );
  await stalled.write(part);
  // Both uploads are half sent when the process is told to stop, and go on when it has begun to refuse new requests.
  const stopping = Promise.withResolvers<void>();
  const half = Promise.withResolvers<void>();
  let waiting = 2;
  const onPart = async (sent: number) => {
    if (sent !== 2 * 1024 * 1024) return;
    if (--waiting === 0) half.resolve();
    await stopping.promise;
  };
  const size = 4 * 1024 * 1024;
  const authorized = { authorization: curator.authorization };
  const uploads = Promise.all([
    putMade(`${curator.base}/buckets/letters/objects/through`, authorized, size, 2, onPart),
    putMade(String(presigned.url), {}, size, 3, onPart),
  ]);
  await half.promise;
  Deno.kill(application.pid, "SIGINT");
  const stopped = application.stop();
  await untilItStops(application);
  const refused = await fetch(`${curator.base}/buckets`, { headers: { ...authorized, "X-Request-ID": "late-1" } });
  assert.deepEqual([refused.status, await refused.json()], [503, { detail: "Stackroom is stopping" }]);
  assert.equal(refused.headers.get("x-request-id"), "late-1");
  assert.equal(refused.headers.get("x-content-type-options"), "nosniff");
  stopping.resolve();
  assert.deepEqual((await uploads).map(({ status }) => status), [200, 200]);
  const { code } = await stopped;
  assert.equal(code, 0);
  assert.equal(new TextDecoder().decode(new Uint8Array(await readAll(stalled))).includes(" 200 "), false);
});

async function untilItStops({ site }: Application): Promise<void> {
  await until("requests are refused", async () => (await fetch(`${site}healthz`)).status === 503 || null);
}

async function readAll(connection: Deno.Conn): Promise<number[]> {
  const bytes: number[] = [];
  try {
    for await (const part of connection.readable) bytes.push(...part);
  } catch {
    // The connection was cut, which is what is expected here.
  }
  return bytes;
}

const MIB = 1024 * 1024;
const BUCKET = "letters";

/** How a body is framed that stalls in the middle of a part, and what is sent of it. */
const STALLING: readonly { key: string; framing: string; head: string; piece: string; pieces: number }[] = [
  {
    key: "of unknown length",
    framing: "Transfer-Encoding: chunked",
    head: "",
    piece: chunk("x".repeat(MIB)),
    pieces: 19,
  },
  {
    key: "beyond one PUT",
    framing: `Content-Length: ${6 * 1024 * MIB}`,
    head: "",
    piece: "x".repeat(MIB),
    pieces: 3,
  },
  {
    key: "in a form",
    framing: "Transfer-Encoding: chunked\r\nContent-Type: multipart/form-data; boundary=b",
    head: chunk('--b\r\nContent-Disposition: form-data; name="file"\r\n\r\n'),
    piece: chunk("x".repeat(MIB)),
    pieces: 19,
  },
];

Deno.test("stop: uploads in parts that stall are cut, and none stays open in the store", async () => {
  await using store = await startApplication({ env: STORAGE_ONLY });
  const owner = await logIn(store.site, "archive/curator");
  const { endpoint_url } = await owner.json("GET", "/credentials");
  const client = await storeClient(owner);
  const open = async () =>
    (await client.send(new ListMultipartUploadsCommand({ Bucket: BUCKET }))).Uploads?.map(({ Key }) => Key) ?? [];
  const gateway = await startApplication({ env: gatewayOf(String(endpoint_url)) });
  const curator = await logIn(gateway.site, "archive/curator");
  const stalled = await Promise.all(STALLING.map((body) => beginUpload(gateway, curator, body)));
  try {
    await until("all uploads are open", async () => (await open()).length === STALLING.length || null);
  } finally {
    const { code } = await gateway.stop();
    stalled.forEach((connection) => connection.close());
    assert.equal(code, 0);
  }
  assert.deepEqual(await open(), []);
  client.destroy();
});

async function beginUpload(
  { site }: Application,
  { authorization }: GatewayClient,
  { key, framing, head, piece, pieces }: (typeof STALLING)[number],
): Promise<Deno.TcpConn> {
  const { port } = new URL(site);
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(port) });
  const method = framing.includes("form-data") ? "POST" : "PUT";
  await write(
    connection,
    `${method} /api/v1/buckets/${BUCKET}/objects/${encodeURIComponent(key)} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n` +
      `Authorization: ${authorization}\r\n${framing}\r\n\r\n${head}`,
  );
  for (let n = 0; n < pieces; n++) await write(connection, piece);
  return connection;
}

function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}

async function write(connection: Deno.TcpConn, text: string): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  for (let written = 0; written < bytes.length;) written += await connection.write(bytes.subarray(written));
}
