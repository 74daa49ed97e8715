import { DeleteObjectCommand, GetObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { AwsClient } from "aws4fetch";
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { ContractServer, S3Case } from "./contract_server.ts";

/** Requests as they are on the wire, by clients of different makers. */
export const REQUEST_CASES: readonly S3Case[] = [
  {
    name: "aws4fetch writes, reads, lists and deletes",
    run: async (server) => {
      const { fetch, base } = await fetching(server);
      const key = "mapp/å +fil (1)!.txt";
      const url = `${base}/${key.split("/").map(encodeURIComponent).join("/")}`;
      const put = await fetch(url, { method: "PUT", body: "text", headers: { "x-amz-meta-two": "a, b" } });
      assert.equal(put.status, 200, await put.text());
      const got = await fetch(url);
      assert.deepEqual([await got.text(), got.headers.get("x-amz-meta-two")], ["text", "a, b"]);
      const listed = await (await fetch(`${base}?list-type=2&prefix=${encodeURIComponent("mapp/å +")}`)).text();
      assert.match(listed, /<Key>mapp\/å \+fil \(1\)!\.txt<\/Key>/);
      const removed = await fetch(url, { method: "DELETE" });
      assert.deepEqual([removed.status, await removed.text()], [204, ""]);
      const gone = await fetch(url);
      assert.deepEqual([gone.status, codeOf(await gone.text())], [404, "NoSuchKey"]);
    },
  },
  {
    name: "a Content-MD5 that is wrong, short or empty is refused, and nothing is written",
    run: async (server) => {
      const { fetch, base } = await fetching(server);
      const md5 = (text: string) => createHash("md5").update(text).digest("base64");
      const expected: Record<string, string> = {
        [md5("other")]: "400 BadDigest",
        "YWJyYWNhZGFicmE=": "400 InvalidDigest",
        "": "400 InvalidDigest",
      };
      for (const [digest, refused] of Object.entries(expected)) {
        const answer = await fetch(`${base}/k`, { method: "PUT", body: "text", headers: { "content-md5": digest } });
        assert.equal(`${answer.status} ${codeOf(await answer.text())}`, refused, `digest ${digest}`);
      }
      const head = await fetch(`${base}/k`, { method: "HEAD" });
      assert.equal(head.status, 404);
      const right = await fetch(`${base}/k`, { method: "PUT", body: "text", headers: { "content-md5": md5("text") } });
      assert.equal(right.status, 200, await right.text());
    },
  },
  {
    name: "a checksum that does not hold is refused",
    run: async (server) => {
      const { fetch, base } = await fetching(server);
      const put = async (crc: string) => {
        const headers = { "x-amz-checksum-crc32": crc };
        const answer = await fetch(`${base}/k`, { method: "PUT", body: "text", headers });
        return `${answer.status} ${codeOf(await answer.text())}`;
      };
      assert.equal(await put("AAAAAA=="), "400 BadDigest");
      assert.equal(await put("bad"), "400 InvalidRequest");
      assert.equal(await put("O4unxw=="), "200 ");
    },
  },
  {
    name: "presigned addresses write, read and delete until they expire or are changed",
    run: async ({ client, bucket }) => {
      const at = { Bucket: await bucket(), Key: "delat/å b.txt" };
      const put = await fetch(await getSignedUrl(client, new PutObjectCommand(at)), { method: "PUT", body: "text" });
      assert.equal(put.status, 200, await put.text());
      const command = new GetObjectCommand({ ...at, ResponseContentType: "text/x-own" });
      const url = await getSignedUrl(client, command, { expiresIn: 60 });
      const got = await fetch(url);
      assert.deepEqual([await got.text(), got.headers.get("content-type")], ["text", "text/x-own"]);
      const changed = await fetch(url.replace("x-own", "html"));
      assert.deepEqual([changed.status, codeOf(await changed.text())], [403, "SignatureDoesNotMatch"]);
      const old = await getSignedUrl(client, new GetObjectCommand(at), {
        expiresIn: 1,
        signingDate: new Date(Date.now() - 60_000),
      });
      const expired = await fetch(old);
      assert.deepEqual([expired.status, codeOf(await expired.text())], [403, "AccessDenied"]);
      const removed = await fetch(await getSignedUrl(client, new DeleteObjectCommand(at)), { method: "DELETE" });
      assert.deepEqual([removed.status, await removed.text()], [204, ""]);
    },
  },
  {
    name: "requests without a signature, with a wrong key or a wrong secret are refused",
    run: async (server) => {
      const { base } = await fetching(server);
      const answered = async (answer: Response) => `${answer.status} ${codeOf(await answer.text())}`;
      assert.equal(await answered(await fetch(`${base}/k`)), "403 AccessDenied");
      const wrong = (keys: object) => new AwsClient({ ...keysOf(server), ...keys, retries: 0 }).fetch(`${base}/k`);
      // Some stores tell the two apart.
      assert.match(
        await answered(await wrong({ accessKeyId: "bm9ib2R5" })),
        /^403 (?:InvalidAccessKeyId|SignatureDoesNotMatch)$/,
      );
      assert.equal(await answered(await wrong({ secretAccessKey: "wrong" })), "403 SignatureDoesNotMatch");
      const unknown = await fetch(`${base}/k`, {
        headers: { authorization: "Basic YTpi", "x-amz-date": stamp(0) },
      });
      assert.equal(await answered(unknown), "400 InvalidArgument");
      const second = await fetch(`${base}/k`, {
        headers: { authorization: "AWS key:c2lnbmF0dXJl", date: new Date().toUTCString() },
      });
      // Stores without Signature Version 2 refuse it as such; the others do not know the key.
      assert.match(await answered(second), /^(?:400 InvalidRequest|403 InvalidAccessKeyId)$/);
    },
  },
  {
    name: "a signature from another time is refused",
    run: async (server) => {
      const { fetch, base } = await fetching(server);
      for (const off of [-3_600_000, 3_600_000]) {
        const answer = await fetch(`${base}/k`, { aws: { datetime: stamp(off) } });
        assert.deepEqual([answer.status, codeOf(await answer.text())], [403, "RequestTimeTooSkewed"]);
      }
    },
  },
];

async function fetching(server: ContractServer) {
  const client = new AwsClient({ ...keysOf(server), retries: 0 });
  const base = `${server.endpoint.replace(/\/$/, "")}/${await server.bucket()}`;
  return { fetch: client.fetch.bind(client), base };
}

function keysOf({ accessKeyId, secretAccessKey }: ContractServer) {
  return { accessKeyId, secretAccessKey, service: "s3", region: "us-east-1" };
}

/** The time in so many ms, as signatures spell it. */
function stamp(ms: number): string {
  return new Date(Date.now() + ms).toISOString().replace(/[-:]|\.\d+/g, "");
}

/** The code of an error's XML; "" where there is none. */
function codeOf(xml: string): string {
  return /<Code>(\w+)<\/Code>/.exec(xml)?.[1] ?? "";
}
