import { ListMultipartUploadsCommand, S3Client } from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { type Application, startApplication, STORAGE_ONLY } from "@/tests/application.ts";
import { until } from "@/tests/until.ts";
import { type GatewayClient, logIn } from "./gateway_client.ts";

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
  const store = await startApplication({ env: STORAGE_ONLY });
  try {
    const keys = await (await logIn(store.site, "archive/curator")).json("GET", "/credentials");
    const client = new S3Client({
      endpoint: String(keys.endpoint_url),
      region: "us-east-1",
      forcePathStyle: true,
      credentials: { accessKeyId: String(keys.access_key_id), secretAccessKey: String(keys.secret_access_key) },
    });
    const open = async () =>
      (await client.send(new ListMultipartUploadsCommand({ Bucket: BUCKET }))).Uploads?.map(({ Key }) => Key) ?? [];
    const gateway = await startApplication({
      env: {
        ROLES: "gateway",
        EMBEDDED: "off",
        HOST: "127.0.0.1",
        API_SECRET_KEY: "a key of this test, long enough to sign with",
        HCP_HOST: "127.0.0.1",
        S3_ENDPOINT_URL: String(keys.endpoint_url),
      },
    });
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
  } finally {
    await store.stop();
  }
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
