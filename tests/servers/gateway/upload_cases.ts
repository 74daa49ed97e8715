import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { StreamOfLength } from "@/lib/runtime/http.ts";
import { until } from "@/tests/until.ts";
import { type Client, type GatewayCase, PART_BYTES } from "./gateway_server.ts";

const LENGTH = 2 * PART_BYTES + 1000;

/** Bytes that differ from place to place. */
function bytes(length: number): Uint8Array<ArrayBuffer> {
  const made = new Uint8Array(length);
  for (let i = 0, state = 1; i < length; i++) made[i] = state = (state * 75 + 74) % 65537;
  return made;
}

function digest(data: Uint8Array): string {
  return createHash("md5").update(data).digest("hex");
}

async function assertStored({ call, json, bucket }: Client, key: string, type: string | null) {
  const got = await call("GET", `/buckets/${bucket}/objects/${key}`);
  if (type !== null) assert.equal(got.headers.get("content-type"), type);
  assert.equal(digest(await got.bytes()), digest(bytes(LENGTH)));
  assert.deepEqual((await json("GET", `/buckets/${bucket}/uploads`))[1].uploads, []);
}

/** Large bodies: in parts by the client, and by the gateway. */
export const UPLOAD_CASES: readonly GatewayCase[] = [
  {
    name: "parts that clients send to presigned addresses become one object",
    async run(client) {
      const { bucket, json, call } = client;
      const at = `/buckets/${bucket}/multipart/films/a b`;
      const begun = await call("POST", at, null, { "Content-Type": "video/x-test" });
      const { upload_id } = await begun.json();
      assert.equal(begun.status, 201);
      const [, { urls }] = await json("POST", `${at}/presign`, {
        upload_id,
        file_size: LENGTH,
        part_size: PART_BYTES,
        expires_in: 600,
      });
      assert.equal(urls.length, 3);
      const data = bytes(LENGTH);
      const parts: { PartNumber: number; ETag: string | null }[] = [];
      for (const { part_number: PartNumber, url } of urls.toReversed()) {
        const part = data.subarray((PartNumber - 1) * PART_BYTES, PartNumber * PART_BYTES);
        const sent = await fetch(url, { method: "PUT", body: part });
        assert.equal(sent.status, 200, await sent.text());
        parts.unshift({ PartNumber, ETag: sent.headers.get("etag") });
      }
      const query = `upload_id=${encodeURIComponent(upload_id)}`;
      const [, first] = await json("GET", `${at}/parts?${query}&max_parts=2`);
      assert.deepEqual([first.parts.length, first.is_truncated], [2, true]);
      const [, rest] = await json("GET", `${at}/parts?${query}&part_number_marker=${first.next_part_number_marker}`);
      assert.deepEqual(
        rest.parts.map(({ PartNumber, Size }: { PartNumber: number; Size: number }) => [PartNumber, Size]),
        [
          [3, 1000],
        ],
      );
      const wrong = [{ ...parts[0], ETag: '"0123456789abcdef0123456789abcdef"' }, ...parts.slice(1)];
      assert.equal((await json("POST", `${at}/complete`, { upload_id, parts: wrong }))[0], 400);
      const [code, done] = await json("POST", `${at}/complete`, { upload_id, parts });
      assert.deepEqual([code, done.bucket, done.key], [200, bucket, "films/a b"]);
      await assertStored(client, "films/a b", "video/x-test");
    },
  },
  {
    name: "uploads under way are listed by key, and ended by an abort",
    async run({ bucket, json }) {
      const at = `/buckets/${bucket}/multipart/k`;
      const [, { upload_id }] = await json("POST", at);
      const [, { uploads }] = await json("GET", `/buckets/${bucket}/uploads?prefix=k`);
      assert.deepEqual(uploads.map(({ Key, UploadId }: Record<string, string>) => [Key, UploadId]), [["k", upload_id]]);
      assert.deepEqual(await json("POST", `${at}/abort`, { upload_id }), [200, { status: "aborted" }]);
      assert.deepEqual((await json("GET", `/buckets/${bucket}/uploads?prefix=k`))[1].uploads, []);
      const parts = [{ PartNumber: 1, ETag: '"0123456789abcdef0123456789abcdef"' }];
      assert.equal((await json("POST", `${at}/complete`, { upload_id, parts }))[0], 404);
    },
  },
  {
    name: "the abort of an unknown upload is 404",
    async run({ bucket, json }) {
      const at = `/buckets/${bucket}/multipart/k`;
      const [, { upload_id }] = await json("POST", at);
      for (const code of [200, 404]) assert.equal((await json("POST", `${at}/abort`, { upload_id }))[0], code);
    },
  },
  {
    name: "a body of unknown length is written whole or in parts",
    async run(client) {
      const path = `/buckets/${client.bucket}/objects/unknown`;
      for (const length of [0, 1000, LENGTH]) {
        const sent = await client.call("PUT", path, new Blob([bytes(length)]).stream(), { "Content-Type": "a/b" });
        assert.equal(sent.status, 200, await sent.text());
        const head = await client.call("HEAD", path);
        await head.body?.cancel();
        assert.equal(head.headers.get("content-length"), String(length));
      }
      await assertStored(client, "unknown", "a/b");
    },
  },
  {
    name: "a body that is longer than one write is written in parts",
    async run(client) {
      const path = `/buckets/${client.bucket}/objects/known`;
      assert.equal(await client.status("PUT", path, bytes(LENGTH), { "Content-Type": "a/b" }), 200);
      await assertStored(client, "known", "a/b");
    },
  },
  {
    name: "a body that breaks off is no object, and leaves the object that has its key",
    async run({ bucket, call, json, status }) {
      for (const announced of [60_000, 4_000_000, 4 * PART_BYTES]) {
        for (const existing of [null, "existing"]) {
          const path = `/buckets/${bucket}/objects/broken-${announced}-${existing}`;
          if (existing !== null) assert.equal(await status("PUT", path, existing), 200);
          let left = Math.floor(announced * 0.4);
          const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
            pull(controller) {
              if (left === 0) return controller.error(new Error("broken off"));
              const chunk = bytes(Math.min(left, 65_536));
              left -= chunk.length;
              controller.enqueue(chunk);
            },
          });
          await assert.rejects(call("PUT", path, new StreamOfLength(body, announced)));
          // The gateway's abort comes after the client has left.
          await until("the abort", async () => {
            const [, { uploads }] = await json("GET", `/buckets/${bucket}/uploads`);
            return uploads.length === 0 || null;
          });
          const found = await call("GET", path);
          const text = await found.text();
          if (existing === null) assert.equal(found.status, 404);
          else assert.equal(text, existing);
        }
      }
    },
  },
  {
    name: "the file of a form becomes the object",
    async run(client) {
      const form = new FormData();
      form.set("file", new File([bytes(LENGTH)], "x.bin", { type: "a/b" }));
      assert.equal(await client.status("POST", `/buckets/${client.bucket}/objects/form`, form), 201);
      await assertStored(client, "form", "a/b");
    },
  },
];
