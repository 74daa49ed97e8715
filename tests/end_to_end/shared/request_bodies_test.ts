import assert from "node:assert/strict";
import { embeddedServer } from "@/bench/wire/s3_wire.ts";
import { signHeaders } from "@/lib/s3/s3_client.ts";
import type { Application } from "@/tests/application.ts";
import { mapiAuthorization } from "@/embedded/tests/store/store_fixture.ts";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { logIn } from "@/tests/end_to_end/gateway_client.ts";
import { sharedApplication, sharedStorage } from "./applications.ts";

const MIB = 1024 * 1024;
/** More than any of the limits of bodies that are not objects, and than what connections take unread. */
const REFUSED_BYTES = 8 * MIB;
/** After so many looks for freed connections, one each 20 ms, a test fails. */
const MAX_LOOKS = 3000;
const encoder = new TextEncoder();

/** A request as it goes over the wire: a body without a length is sent chunked. */
interface RawRequest {
  readonly origin: string;
  readonly method: string;
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The body's first bytes; the rest is filled up. */
  readonly begins?: string;
  readonly lengthBytes: number;
  readonly chunkBytes?: number;
}

/** A connection of a client that sends everything before it reads anything. */
class RawClient {
  readonly #socket: Deno.TcpConn;
  readonly #host: string;

  private constructor(socket: Deno.TcpConn, host: string) {
    this.#socket = socket;
    this.#host = host;
  }

  static async to(origin: string): Promise<RawClient> {
    const { hostname, port, host } = new URL(origin);
    return new RawClient(await Deno.connect({ hostname, port: Number(port) }), host);
  }

  /** Status and headers of the answer. */
  async send({ method, target, headers = {}, begins = "", lengthBytes, chunkBytes }: RawRequest) {
    const framing = chunkBytes ? "Transfer-Encoding: chunked" : `Content-Length: ${lengthBytes}`;
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join("");
    await this.#write(
      encoder.encode(`${method} ${target} HTTP/1.1\r\nHost: ${this.#host}\r\n${lines}${framing}\r\n\r\n`),
    );
    for (const piece of pieces(encoder.encode(begins), lengthBytes, chunkBytes)) await this.#write(piece);
    return await this.#answer();
  }

  /** Whether the server has closed the connection, or does so. */
  async isClosed(): Promise<boolean> {
    return await this.#socket.read(new Uint8Array(1)) === null;
  }

  close(): void {
    this.#socket.close();
  }

  async #write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) at += await this.#socket.write(bytes.subarray(at));
  }

  async #answer(): Promise<{ status: number; head: string }> {
    let text = "";
    const buffer = new Uint8Array(64 * 1024);
    for (let end = -1, length = 0; end < 0 || text.length < end + 4 + length;) {
      const read = await this.#socket.read(buffer);
      assert.ok(read !== null, `the connection ended after ${JSON.stringify(text)}`);
      text += new TextDecoder("latin1").decode(buffer.subarray(0, read));
      end = text.indexOf("\r\n\r\n");
      length = Number(/\r\ncontent-length: (\d+)/i.exec(text.slice(0, end + 2))?.[1] ?? 0);
    }
    return { status: Number(text.split(" ", 2)[1]), head: text.split("\r\n\r\n", 1)[0] };
  }
}

/** A body of so many bytes, in its framing, some 256 KiB at a time. */
function* pieces(begins: Uint8Array, lengthBytes: number, chunkBytes?: number): Iterable<Uint8Array> {
  const size = chunkBytes ?? 256 * 1024;
  const chunk = new Uint8Array(size).fill(0x61);
  const framed = chunkBytes ? inChunk(chunk) : chunk;
  const several = new Uint8Array(framed.length * Math.max(1, Math.floor(256 * 1024 / size)));
  for (let at = 0; at < several.length; at += framed.length) several.set(framed, at);
  let left = lengthBytes - begins.length;
  if (begins.length > 0) yield chunkBytes ? inChunk(begins) : begins;
  for (const all = several.length / framed.length * size; left >= all; left -= all) yield several;
  for (; left >= size; left -= size) yield framed;
  if (left > 0) yield chunkBytes ? inChunk(chunk.subarray(0, left)) : chunk.subarray(0, left);
  if (chunkBytes) yield encoder.encode("0\r\n\r\n");
}

function inChunk(bytes: Uint8Array): Uint8Array {
  const size = encoder.encode(`${bytes.length.toString(16)}\r\n`);
  const framed = new Uint8Array(size.length + bytes.length + 2);
  framed.set(size);
  framed.set(bytes, size.length);
  framed.set([13, 10], size.length + bytes.length);
  return framed;
}

function openSockets({ pid }: Application): number {
  let count = 0;
  for (const { name } of Deno.readDirSync(`/proc/${pid}/fd`)) {
    try {
      if (Deno.readLinkSync(`/proc/${pid}/fd/${name}`).startsWith("socket:")) count++;
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
  return count;
}

Deno.test(
  "request bodies: refused in the middle, the client reads why and no server keeps its connection",
  async () => {
    const application = await sharedApplication();
    const { authorization } = await logIn(application.site, "archive/curator");
    const site = application.site.replace(/\/$/, "");
    const s3 = embeddedServer(application.dataFolder);
    const ports: Record<string, number> = JSON.parse(Deno.readTextFileSync(`${application.dataFolder}/ports.json`));
    const cluster = /^Cluster\s+(\S+)/m.exec(application.output())?.[1];
    assert.ok(cluster);
    const object = { method: "PUT", target: "/letters/refused", origin: s3.origin };
    const signed: Record<string, string> = {
      "content-encoding": "aws-chunked",
      "x-amz-decoded-content-length": String(REFUSED_BYTES),
      "x-amz-trailer": "x-amz-checksum-crc32",
    };
    const { host } = new URL(s3.origin);
    const request = { method: object.method, host, path: object.target, query: [] };
    const signing = { keys: s3.keys, region: "us-east-1", now: Date.now() };
    signHeaders(request, signed, "STREAMING-UNSIGNED-PAYLOAD-TRAILER", signing);
    const gateway = { origin: site, headers: { Authorization: authorization } };
    const form = { "Content-Type": "multipart/form-data; boundary=b" };
    const mapi = { origin: `http://127.0.0.1:${ports["mapi archive"]}`, headers: mapiAuthorization("curator") };
    const refused: Record<string, readonly [number, Omit<RawRequest, "lengthBytes">]> = {
      "gateway, nobody": [401, { origin: site, method: "PUT", target: "/api/v1/buckets/letters/objects/a" }],
      "gateway, JSON": [413, { ...gateway, method: "POST", target: "/api/v1/presign" }],
      "gateway, form": [400, {
        ...gateway,
        headers: { ...gateway.headers, ...form },
        method: "POST",
        target: "/api/v1/buckets/letters/objects/a",
        begins: "--b\r\nno header\r\n\r\n",
      }],
      "results, login": [413, {
        origin: site,
        headers: { Origin: site, "Content-Type": "application/json" },
        method: "POST",
        target: "/results/_login",
      }],
      "site": [405, { origin: site, method: "POST", target: "/log" }],
      "site, login": [303, { origin: site, method: "POST", target: "/login" }],
      "S3, nobody": [403, object],
      "S3, aws-chunked": [400, { ...object, headers: signed, begins: "not a size\r\n" }],
      "management API": [413, { ...mapi, method: "PUT", target: "/mapi/tenants/archive/namespaces" }],
      "cluster": [413, {
        origin: cluster,
        method: "POST",
        target: "/api/v1/namespaces/default/configmaps",
      }],
    };
    const before = openSockets(application);
    for (const [name, [status, sent]] of Object.entries(refused)) {
      for (const chunkBytes of [16_384, undefined]) {
        // An announced length is enough to refuse, and aws-chunked needs one.
        const answers = await Promise.all(Array.from({ length: 8 }, async () => {
          const client = await RawClient.to(sent.origin);
          try {
            return (await client.send({ ...sent, lengthBytes: REFUSED_BYTES, chunkBytes })).status;
          } finally {
            client.close();
          }
        }));
        assert.deepEqual([...new Set(answers)], [status], `${name}, ${chunkBytes ?? "not"} chunked`);
      }
    }
    // Between the roles a few connections stay, as they do without refusals.
    const isFreed = () => openSockets(application) <= before + 8;
    for (let looks = 0; looks < MAX_LOOKS && !isFreed(); looks++) {
      await new Promise<void>((resolve) => setTimeout(resolve, 20));
    }
    assert.ok(isFreed(), `${openSockets(application)} connections are open, ${before} were before`);
  },
);

/** Processor time of all threads, in ticks of the kernel. */
function processorTicks({ pid }: Application): number {
  const fields = Deno.readTextFileSync(`/proc/${pid}/stat`).split(") ")[1].split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

Deno.test("connections: chunked bodies cost no more on a used connection than on a fresh one", async () => {
  const application = await sharedStorage();
  const { authorization } = await logIn(application.site, "archive/curator");
  const origin = application.site.replace(/\/$/, "");
  const upload: RawRequest = {
    origin,
    method: "PUT",
    target: "/api/v1/buckets/letters/objects/a",
    headers: { Authorization: authorization },
    lengthBytes: 32 * MIB,
    chunkBytes: 16_384,
  };
  const credentials = new URLSearchParams({ username: "archive/curator", password: SAMPLE_PASSWORD }).toString();
  const form = { "Content-Type": "application/x-www-form-urlencoded" };
  const login: RawRequest = {
    origin,
    method: "POST",
    target: "/api/v1/auth/token",
    headers: form,
    begins: credentials,
    lengthBytes: credentials.length,
  };
  const cost = async (earlier: readonly RawRequest[]) => {
    const client = await RawClient.to(origin);
    try {
      for (const sent of earlier) assert.equal((await client.send(sent)).status, 200);
      const ticks = processorTicks(application);
      const { status, head } = await client.send(upload);
      const used = processorTicks(application) - ticks;
      assert.equal(status, 200);
      assert.match(head, /\r\nconnection: close\r\n/i);
      assert.ok(await client.isClosed(), "large pieces stay the habit of a connection, so it ends");
      return used;
    } finally {
      client.close();
    }
  };
  await cost([]);
  const fresh = await cost([]);
  const small: RawRequest = { ...upload, lengthBytes: 1000, chunkBytes: undefined };
  const used = await cost([login, small]);
  assert.ok(used <= 3 * fresh, `${used} ticks of the processor, ${fresh} on a fresh connection`);
  const client = await RawClient.to(origin);
  const { head } = await client.send({ ...upload, lengthBytes: MIB, chunkBytes: undefined });
  assert.match(head, /\r\nconnection: close\r\n/i);
  assert.ok(await client.isClosed());
  client.close();
});
