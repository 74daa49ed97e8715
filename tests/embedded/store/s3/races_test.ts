import assert from "node:assert/strict";
import {
  AbortMultipartUploadCommand,
  CopyObjectCommand,
  DeleteObjectCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { joinedBytes } from "@/lib/std/body_reader.ts";
import { storeTest } from "@/tests/embedded/store/store_fixture.ts";
import { bodyFiles, Bucket, complete, md5, MIB, pattern, read, start, upload } from "./multipart_fixture.ts";

storeTest(
  "races: a copy of an object that is overwritten meanwhile is one of its versions, whole",
  async ({ client }) => {
    const bodies = [pattern(300_000, 1), pattern(700_000, 2), pattern(900, 3)];
    const digests = bodies.map(md5);
    const put = (i: number) => client.send(new PutObjectCommand({ Bucket, Key: "source", Body: bodies[i % 3] }));
    await put(0);
    const copied = await Promise.all(Array.from({ length: 24 }, async (_, i) => {
      await put(i);
      const Key = `copy-${i}`;
      const { CopyObjectResult } = await client.send(
        new CopyObjectCommand({ Bucket, Key, CopySource: `${Bucket}/source` }),
      );
      return [CopyObjectResult?.ETag, `"${md5(await read(client, Key))}"`];
    }));
    for (const [etag, digest] of copied) {
      assert.equal(etag, digest);
      assert.ok(digests.includes(String(digest).slice(1, -1)));
    }
  },
);

storeTest(
  "races: an upload is completed or aborted, never both, and no file is left without an object",
  async ({ store, client }) => {
    const [first, again, last] = [pattern(5 * MIB, 4), pattern(5 * MIB, 5), pattern(100_000, 6)];
    for (let round = 0; round < 6; round++) {
      const Key = `raced-${round}`;
      const UploadId = await start(client, Key);
      const parts = [await upload(client, Key, UploadId, 1, first), await upload(client, Key, UploadId, 2, last)];
      const end = (promise: Promise<unknown>) => promise.then(() => "done", (error) => String(error.name));
      const [replaced, completed, aborted] = await Promise.all([
        end(upload(client, Key, UploadId, 1, again)),
        end(complete(client, Key, UploadId, parts)),
        end(
          round % 2 === 0 ? client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })) : Promise.resolve(),
        ),
      ]);
      assert.ok(["done", "NoSuchUpload"].includes(replaced), replaced);
      if (completed === "done") {
        assert.equal(md5(await read(client, Key)), md5(joinedBytes([first, last])));
        if (round % 2 === 0) assert.equal(aborted, "NoSuchUpload");
      } else {
        assert.equal(
          round % 2 === 0 ? completed : "InvalidPart",
          completed === "InvalidPart" ? "InvalidPart" : "NoSuchUpload",
        );
      }
      await client.send(new DeleteObjectCommand({ Bucket, Key }));
      await end(client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })));
    }
    // The next change takes the last files with it.
    await client.send(new PutObjectCommand({ Bucket, Key: "small", Body: "x" }));
    assert.deepEqual(bodyFiles(store.folder), []);
  },
);
