import { ListMultipartUploadsCommand, S3Client } from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { connect, type Socket } from "node:net";
import fc from "fast-check";
import { type Application, startApplication, STORAGE_ONLY } from "@/tests/application.ts";
import { sharedByFile } from "@/tests/shared_by_file.ts";
import { until } from "@/tests/until.ts";
import { type GatewayClient, logIn, madeBody, madeDigest, residentBytes, streamDigest } from "./gateway_client.ts";

const MIB = 1024 * 1024;
const LEAVING_CLIENTS = 41;
/**
 * One part of 5 MiB, and what the runtime has not collected yet of the pieces that the gateway and, in the same process,
 * the store read: the same for a body of any length, and less than a third of one of these.
 */
const MAX_GROWTH_BYTES = 96 * MIB;

const shared = sharedByFile(async () => {
  const application = await startApplication({ env: STORAGE_ONLY });
  const curator = await logIn(application.site, "archive/curator");
  await curator.json("PUT", "/mapi/tenants/archive/namespaces", { name: "deposit", hardQuota: "4 GB" });
  return { application, curator };
}, ({ application }) => application.stop());

async function withApplication(body: (application: Application, curator: GatewayClient) => Promise<void>) {
  const { application, curator } = await shared();
  await body(application, curator);
}

const slow = { sanitizeOps: false, sanitizeResources: false };

Deno.test({
  name: "whole application: a body of unknown length goes in by parts, in bounded memory, plain or in a form",
  ...slow,
  fn: () =>
    withApplication(async (application, curator) => {
      const small = await curator.call("PUT", "/buckets/deposit/objects/warm", "x");
      assert.equal(small.status, 200);
      await small.body?.cancel();
      const before = residentBytes(application.pid);
      let highest = before;
      const size = 300 * MIB + 12_345;
      const pieces = (seed: number, head = "", tail = "") => {
        const parts = madeBody(size, seed);
        let state = 0;
        return new ReadableStream<Uint8Array>({
          pull(controller) {
            highest = Math.max(highest, residentBytes(application.pid));
            if (state === 0 && head !== "") controller.enqueue(new TextEncoder().encode(head));
            state = 1;
            const { done, value } = parts.next();
            if (!done) return controller.enqueue(new Uint8Array(value));
            if (tail !== "") controller.enqueue(new TextEncoder().encode(tail));
            controller.close();
          },
        });
      };
      const url = (key: string) => `${curator.base}/buckets/deposit/objects/${key}`;
      const headers = { authorization: curator.authorization };
      const plain = await fetch(url("plain"), { method: "PUT", headers, body: pieces(1) });
      assert.equal(plain.status, 200, await plain.clone().text());
      assert.match((await plain.json()).etag, /^"[0-9a-f]{32}-61"$/);
      const form = await fetch(url("form"), {
        method: "POST",
        headers: { ...headers, "content-type": "multipart/form-data; boundary=bound" },
        body: pieces(
          2,
          '--bound\r\nContent-Disposition: form-data; name="file"; filename="a"\r\nContent-Type: image/tiff\r\n\r\n',
          "\r\n--bound--\r\n",
        ),
      });
      assert.equal(form.status, 201, await form.clone().text());
      await form.body?.cancel();
      for (const [key, seed, type] of [["plain", 1, "binary/octet-stream"], ["form", 2, "image/tiff"]] as const) {
        const download = await curator.call("GET", `/buckets/deposit/objects/${key}`);
        assert.equal(download.headers.get("content-type"), type);
        assert.deepEqual(await streamDigest(download.body), { digest: madeDigest(size, seed), size });
      }
      const growth = highest - before;
      assert.ok(growth < MAX_GROWTH_BYTES, `memory grew by ${Math.round(growth / MIB)} MiB`);
      for (const key of ["warm", "plain", "form"]) {
        const gone = await curator.call("DELETE", `/buckets/deposit/objects/${key}`);
        assert.equal(gone.status, 200);
        await gone.body?.cancel();
      }
      await nothingLeft(application, curator);
    }),
});

Deno.test({
  name: "whole application: 41 clients that leave in mid-upload leave the process up, and neither upload nor file",
  ...slow,
  fn: () =>
    withApplication(async (application, curator) => {
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
      await nothingLeft(application, curator);
      const { objects } = await curator.json("GET", "/buckets/deposit/objects");
      assert.deepEqual(objects, []);
      const after = await curator.call("PUT", "/buckets/deposit/objects/after", "still here");
      assert.equal(after.status, 200);
      await after.body?.cancel();
      await allCutOff(application, LEAVING_CLIENTS);
      assert.doesNotMatch(application.output(), /"level":"error"|Uncaught|panicked/);
    }),
});

Deno.test({
  name: "whole application: any key is written, listed, read and deleted under its own name",
  ...slow,
  fn: () =>
    withApplication(async (_application, curator) => {
      const special = [
        "a/acl",
        "a/tags",
        "a/versions",
        "a/restore",
        "delete",
        "copy",
        "presign",
        "folder",
        "s3_stats/x",
        "download/x",
        "x/copy",
        "nul\0l",
        "new\nline\r\n",
        "\x01\x7f\u0085",
        "..",
        "a/../b",
        "./.",
        "//",
        "%2F",
        "%",
        "+ ?#&=",
        "\u{1F5C4}/å",
        "e\u0301",
        "\\back",
        "'\"<>`^{|}",
        "x".repeat(1024),
      ];
      const keys = fc.string({ unit: "binary", minLength: 1, maxLength: 60 }).filter((key) =>
        key.isWellFormed() && !dotted(key)
      );
      const check = async (key: string, sent = encodeURIComponent(key)) => {
        const path = `/buckets/deposit/objects/${sent}?as=object`;
        const digest = createHash("md5").update(key).digest("hex");
        const request = (method: string, body?: string) => exchange(curator, method, path, body);
        const written = await request("PUT", digest);
        assert.equal(written.status, 200, `${JSON.stringify(key)}: ${written.body}`);
        assert.equal(JSON.parse(written.body).key, key);
        assert.equal((await request("GET")).body, digest);
        assert.equal((await request("HEAD")).status, 200);
        const page = await curator.json("GET", `/buckets/deposit/objects?prefix=${encodeURIComponent(key)}`);
        assert.ok(Array.isArray(page.objects) && page.objects.some(({ Key }) => Key === key), JSON.stringify(key));
        const gone = await request("DELETE");
        assert.equal(gone.status, 200);
        assert.equal(JSON.parse(gone.body).key, key);
        assert.equal((await request("DELETE")).status, 404);
      };
      for (const key of special) await check(key);
      await check("a/b", "a%2fb");
      await fc.assert(fc.asyncProperty(keys, (key) => check(key)), { numRuns: 40 });
      for (const method of ["GET", "HEAD", "PUT", "DELETE"]) {
        const tooLong = await exchange(curator, method, `/buckets/deposit/objects/${"y".repeat(1025)}`, "x");
        assert.equal(tooLong.status, 400, method);
        assert.equal((await exchange(curator, method, "/buckets/deposit/objects/", "x")).status, 404, method);
      }
    }),
});

function dotted(key: string): boolean {
  return key.split("/").some((segment) => segment === "." || segment === "..");
}

/** One request whose path stays as it is, which `fetch` would fold. */
function exchange(
  { base, authorization }: GatewayClient,
  method: string,
  path: string,
  body = "",
): Promise<{ status: number; body: string }> {
  const { port, pathname } = new URL(base);
  return new Promise((resolve, reject) => {
    let text = "";
    const socket = connect(Number(port), "127.0.0.1");
    socket.write(
      `${method} ${pathname}${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n` +
        `Authorization: ${authorization}\r\nContent-Length: ${method === "PUT" ? body.length : 0}\r\n\r\n` +
        (method === "PUT" ? body : ""),
    );
    socket.setEncoding("utf8");
    socket.on("data", (data) => text += data);
    socket.on("error", reject);
    socket.on("close", () => {
      const end = text.indexOf("\r\n\r\n");
      resolve({ status: Number(text.slice(9, 12)), body: text.slice(end + 4) });
    });
  });
}

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

/** Waits until the store has no upload under way and no large file: with its client gone, each of them goes. */
async function nothingLeft(application: Application, curator: GatewayClient): Promise<void> {
  const keys = await curator.json("GET", "/credentials");
  const client = new S3Client({
    endpoint: String(keys.endpoint_url),
    region: "us-east-1",
    forcePathStyle: true,
    credentials: { accessKeyId: String(keys.access_key_id), secretAccessKey: String(keys.secret_access_key) },
  });
  await until("no upload is open, no large file is left", async () => {
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket: "deposit" }));
    return (Uploads.length === 0 && largeFiles(application.dataFolder).length === 0) || null;
  });
}

/** Waits until the log has so many uploads that were under way and ended with their client: none was refused before. */
async function allCutOff(application: Application, count: number): Promise<void> {
  await until(`${count} uploads are logged as cut off`, () => {
    const lines = application.output().match(/"operation":"(?:put|post)_object".*"status":499/g) ?? [];
    return lines.length === count || null;
  });
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
