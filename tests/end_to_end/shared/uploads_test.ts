import { ListMultipartUploadsCommand } from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import type { Application } from "@/tests/application.ts";
import { sharedByFile } from "@/tests/shared_by_file.ts";
import { until } from "@/tests/until.ts";
import {
  type GatewayClient,
  logIn,
  madeBody,
  madeDigest,
  putMade,
  residentBytes,
  storeClient,
  streamDigest,
} from "@/tests/end_to_end/gateway_client.ts";
import { sharedStorage } from "./applications.ts";

const MIB = 1024 * 1024;
const SIZE = 160 * MIB + 12_345;
const LEAVING_CLIENTS = 41;
/**
 * One part of 5 MiB, and what the runtime has not collected yet of the pieces that the gateway and, in the same process,
 * the store read: the same for a body of any length, and less than three quarters of one of these.
 */
const MAX_GROWTH_BYTES = 112 * MIB;

const shared = sharedByFile(async () => {
  const application = await sharedStorage();
  const curator = await logIn(application.site, "archive/curator");
  await curator.json("PUT", "/mapi/tenants/archive/namespaces", { name: "deposit", hardQuota: "4 GB" });
  return { application, curator };
}, () => Promise.resolve());

function whole(name: string, body: (application: Application, curator: GatewayClient) => Promise<void>): void {
  Deno.test(`whole application: ${name}`, async () => {
    const { application, curator } = await shared();
    await body(application, curator);
  });
}

/** A way of a long body into the store: under which key, as what, and with which entity tag it ends. */
interface Way {
  readonly key: string;
  readonly type: string;
  readonly etag: RegExp;
  send(curator: GatewayClient, url: string, seed: number, onPart: () => void): Promise<number>;
}

const WAYS: readonly Way[] = [
  {
    key: "länk/A 1+2.tif",
    type: "binary/octet-stream",
    etag: /^"[0-9a-f]{32}"$/,
    async send(curator, _url, seed, onPart) {
      const link = { bucket: "deposit", key: this.key, method: "put_object", expires_in: 600 };
      const { url } = await curator.json("POST", "/presign", link);
      return (await putMade(String(url), {}, SIZE, seed, onPart)).status;
    },
  },
  {
    key: "genom/A 50%.tif",
    type: "image/tiff",
    etag: /^"[0-9a-f]{32}"$/,
    async send({ authorization }, url, seed, onPart) {
      return (await putMade(url, { authorization, "content-type": "image/tiff" }, SIZE, seed, onPart)).status;
    },
  },
  {
    key: "of unknown length",
    type: "binary/octet-stream",
    etag: /^"[0-9a-f]{32}-33"$/,
    send: ({ authorization }, url, seed, onPart) => {
      return sent(url, { method: "PUT", headers: { authorization }, body: pieces(seed, onPart) });
    },
  },
  {
    key: "in a form",
    type: "image/tiff",
    etag: /^"[0-9a-f]{32}-33"$/,
    send: ({ authorization }, url, seed, onPart) => {
      const head = '--bound\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n' +
        "Content-Type: image/tiff\r\n\r\n";
      const headers = { authorization, "content-type": "multipart/form-data; boundary=bound" };
      return sent(url, { method: "POST", headers, body: pieces(seed, onPart, head, "\r\n--bound--\r\n") });
    },
  },
];

async function sent(url: string, init: RequestInit): Promise<number> {
  const response = await fetch(url, init);
  await response.body?.cancel();
  return response.status;
}

/** A made body without a length. */
function pieces(seed: number, onPart: () => void, head = "", tail = ""): ReadableStream<Uint8Array> {
  function* all(): Generator<Uint8Array> {
    if (head !== "") yield new TextEncoder().encode(head);
    for (const part of madeBody(SIZE, seed)) {
      onPart();
      yield new Uint8Array(part);
    }
    if (tail !== "") yield new TextEncoder().encode(tail);
  }
  return ReadableStream.from(all());
}

whole("160 MiB go in by each way and come out the same, in bounded memory", async (application, curator) => {
  const large = largeFiles(application.dataFolder).length;
  await curator.json("PUT", "/buckets/deposit/objects/warm", "x");
  const before = residentBytes(application.pid);
  let highest = before;
  const measure = () => {
    highest = Math.max(highest, residentBytes(application.pid));
  };
  for (const [seed, way] of WAYS.entries()) {
    const path = `/buckets/deposit/objects/${encodeURIComponent(way.key)}`;
    assert.ok([200, 201].includes(await way.send(curator, curator.base + path, seed, measure)), way.key);
    const { objects } = await curator.json("GET", `/buckets/deposit/objects?prefix=${encodeURIComponent(way.key)}`);
    assert.ok(Array.isArray(objects));
    assert.deepEqual(objects.map(({ Key, Size }) => [Key, Size]), [[way.key, SIZE]]);
    const download = await curator.call("GET", path);
    assert.equal(download.headers.get("content-type"), way.type, way.key);
    assert.match(download.headers.get("etag") ?? "", way.etag, way.key);
    assert.deepEqual(await streamDigest(download.body), { digest: madeDigest(SIZE, seed), size: SIZE }, way.key);
    measure();
    await curator.json("DELETE", path);
  }
  const growth = highest - before;
  assert.ok(growth < MAX_GROWTH_BYTES, `memory grew by ${Math.round(growth / MIB)} MiB`);
  await curator.json("DELETE", "/buckets/deposit/objects/warm");
  await nothingLeft(application, curator, large);
});

whole(
  "41 clients that leave in mid-upload leave the process up, and neither upload nor file",
  async (application, curator) => {
    const [cutOff, faults] = [logged(application, CUT_OFF), logged(application, FAULT)];
    const large = largeFiles(application.dataFolder).length;
    const auth = `Authorization: ${curator.authorization}\r\n`;
    const put = (key: string, framing: string) =>
      `PUT /api/v1/buckets/deposit/objects/${key} HTTP/1.1\r\nHost: localhost\r\n${auth}${framing}\r\n\r\n`;
    const chunk = (bytes: number) => `${bytes.toString(16)}\r\n${"x".repeat(bytes)}\r\n`;
    const kinds: ((n: number) => [head: string, piece: string, pieces: number])[] = [
      (n) => [put(`known-${n}`, `Content-Length: ${100 * MIB}`), "x".repeat(MIB), 3],
      (n) => [put(`dots-${n}/../x`, `Content-Length: ${100 * MIB}`), "x".repeat(MIB), 3],
      (n) => [put(`chunked-${n}`, "Transfer-Encoding: chunked"), chunk(MIB), 2],
      (n) => [put(`parts-${n}`, "Transfer-Encoding: chunked"), chunk(MIB), 19],
      (n) => [put(`beyond-${n}`, `Content-Length: ${6 * 1024 * MIB}`), "x".repeat(MIB), 12],
      (n) => [
        put(`form-${n}`, "Transfer-Encoding: chunked\r\nContent-Type: multipart/form-data; boundary=b").replace(
          "PUT",
          "POST",
        ) +
        `4b\r\n--b\r\nContent-Disposition: form-data; name="file"; filename="abcdefghij"\r\n\r\n\r\n`,
        chunk(MIB),
        19,
      ],
    ];
    await Promise.all(Array.from({ length: LEAVING_CLIENTS }, async (_, n) => {
      const [head, piece, pieces] = kinds[n % kinds.length](n);
      await sendAndLeave(application.site, head, piece, pieces);
    }));
    await nothingLeft(application, curator, large);
    const { objects } = await curator.json("GET", "/buckets/deposit/objects");
    assert.deepEqual(objects, []);
    const after = await curator.call("PUT", "/buckets/deposit/objects/after", "still here");
    assert.equal(after.status, 200);
    await after.body?.cancel();
    await until(`${LEAVING_CLIENTS} uploads are logged as cut off, and none as refused before`, () => {
      return logged(application, CUT_OFF) === cutOff + LEAVING_CLIENTS || null;
    });
    assert.equal(logged(application, FAULT), faults, application.output());
  },
);

/** Sends a head and so many pieces, each when the socket has taken the one before, and is gone. */
async function sendAndLeave(site: string, head: string, piece: string, pieces: number): Promise<void> {
  const socket: Socket = connect(Number(new URL(site).port), "127.0.0.1");
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  socket.on("error", () => {});
  const write = (text: string) =>
    Promise.race([new Promise<void>((resolve) => void socket.write(text, () => resolve())), closed]);
  await write(head);
  for (let n = 0; n < pieces; n++) await write(piece);
  socket.destroy();
  await closed;
}

/** Waits until the store has no upload under way and no further large file: with its client gone, each of them goes. */
async function nothingLeft(application: Application, curator: GatewayClient, large: number): Promise<void> {
  const client = await storeClient(curator);
  await until("no upload is open, no large file is left", async () => {
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: "deposit" }));
    return (Uploads.length === 0 && largeFiles(application.dataFolder).length === large) || null;
  });
}

/** An upload that was under way and ended with its client. */
const CUT_OFF = /"operation":"(?:put|post)_object".*"status":499/g;
const FAULT = /"level":"error"|Uncaught|panicked/g;

/** How often the log has something. The logs of several processes stand one behind the other: its end is not the newest. */
function logged(application: Application, what: RegExp): number {
  return application.output().match(what)?.length ?? 0;
}

function largeFiles(folder: string): string[] {
  return [...Deno.readDirSync(`${folder}/bodies`)].flatMap((hour) =>
    [...Deno.readDirSync(`${folder}/bodies/${hour.name}`)].flatMap(({ name }) => {
      try {
        return Deno.statSync(`${folder}/bodies/${hour.name}/${name}`).size >= MIB ? [name] : [];
      } catch {
        return [];
      }
    })
  );
}
