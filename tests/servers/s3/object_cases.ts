import {
  CopyObjectCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  GetObjectTaggingCommand,
  HeadObjectCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { Readable } from "node:stream";
import { refusal, type S3Case } from "./contract_server.ts";

/** Objects whole, in part, under conditions, copied and deleted. */
export const OBJECT_CASES: readonly S3Case[] = [
  {
    name: "strings, buffers and streams come back as they were sent",
    run: async ({ client, bucket }) => {
      const Bucket = await bucket();
      const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, i) => i % 251));
      const bodies = {
        text: "Åbo, 3 maj",
        bytes: new Uint8Array(bytes),
        buffer: bytes,
        stream: Readable.from([bytes.subarray(0, 100_000), bytes.subarray(100_000)]),
        empty: "",
      };
      for (const [Key, Body] of Object.entries(bodies)) {
        const ContentLength = Key === "stream" ? bytes.length : undefined;
        await client.send(new PutObjectCommand({ Bucket, Key, Body, ContentLength }));
        const answer = await client.send(new GetObjectCommand({ Bucket, Key }));
        const expected = typeof Body === "string" ? Buffer.from(Body) : bytes;
        assert.deepEqual(Buffer.from(await answer.Body?.transformToByteArray() ?? []), expected, Key);
      }
    },
  },
  {
    name: "metadata, system headers and tags stay with an object",
    run: async ({ client, bucket }) => {
      const at = { Bucket: await bucket(), Key: "kept" };
      await client.send(
        new PutObjectCommand({
          ...at,
          Body: "x",
          Metadata: { Volume: "A1", "with_under.score": "yes" },
          ContentType: "image/jp2",
          CacheControl: "no-cache",
          ContentDisposition: 'attachment; filename="a.jp2"',
          ContentLanguage: "sv",
          Tagging: "kind=page&year=1794",
        }),
      );
      const head = await client.send(new HeadObjectCommand(at));
      assert.deepEqual(head.Metadata, { volume: "A1", "with_under.score": "yes" });
      assert.deepEqual(
        [head.ContentType, head.CacheControl, head.ContentDisposition, head.ContentLanguage],
        ["image/jp2", "no-cache", 'attachment; filename="a.jp2"', "sv"],
      );
      const { TagSet } = await client.send(new GetObjectTaggingCommand(at));
      assert.deepEqual(TagSet?.map(({ Key, Value }) => `${Key}=${Value}`).sort(), ["kind=page", "year=1794"]);
    },
  },
  {
    name: "more than 2 KiB of metadata is refused",
    run: async ({ client, bucket }) => {
      const at = { Bucket: await bucket(), Key: "large" };
      const put = (bytes: number) =>
        client.send(new PutObjectCommand({ ...at, Body: "x", Metadata: { a: "b".repeat(bytes) } }));
      await put(1500);
      assert.equal(await refusal(put(3000)), "400 MetadataTooLarge");
    },
  },
  {
    name: "ranges: what they give, which are ignored and which cannot be satisfied",
    run: async ({ client, bucket }) => {
      const at = { Bucket: await bucket(), Key: "ranges" };
      await client.send(new PutObjectCommand({ ...at, Body: "0123456789" }));
      const expected: Record<string, string> = {
        "bytes=0-0": "206 0",
        "bytes=2-4": "206 234",
        "bytes=7-": "206 789",
        "bytes=-3": "206 789",
        "bytes=-50": "206 0123456789",
        "bytes=5-500": "206 56789",
        "bytes=10-": "416 InvalidRange",
        "bytes=-0": "416 InvalidRange",
        "bytes=5-2": "200 0123456789",
        "bytes=a-b": "200 0123456789",
        "bytes=--1": "200 0123456789",
        "bytes= -1": "200 0123456789",
        "words=0-1": "200 0123456789",
      };
      const seen: Record<string, string> = {};
      for (const Range of Object.keys(expected)) {
        const read = async () => {
          const { Body, $metadata } = await client.send(new GetObjectCommand({ ...at, Range }));
          seen[Range] = `${$metadata.httpStatusCode} ${await Body?.transformToString()}`;
        };
        const refused = await refusal(read());
        seen[Range] ??= refused;
      }
      assert.deepEqual(seen, expected);
    },
  },
  {
    name: "conditions of a read, in their order",
    run: async ({ client, bucket }) => {
      const at = { Bucket: await bucket(), Key: "read" };
      const { ETag } = await client.send(new PutObjectCommand({ ...at, Body: "x" }));
      const [before, after] = [new Date(Date.now() - 3_600_000), new Date(Date.now() - 1)];
      const get = (given: object) => refusal(client.send(new GetObjectCommand({ ...at, ...given })));
      const head = await client.send(new HeadObjectCommand(at));
      assert.ok(head.LastModified);
      assert.equal(await get({ IfMatch: ETag, IfUnmodifiedSince: before }), "no refusal");
      assert.equal(await get({ IfMatch: '"other"' }), "412 PreconditionFailed");
      assert.equal(await get({ IfUnmodifiedSince: before }), "412 PreconditionFailed");
      assert.match(await get({ IfNoneMatch: ETag, IfModifiedSince: before }), /^304 /);
      assert.match(await get({ IfModifiedSince: head.LastModified }), /^304 /);
      assert.equal(await get({ IfNoneMatch: '"other"', IfModifiedSince: after }), "no refusal");
    },
  },
  {
    name: "conditions of a write",
    run: async ({ client, bucket }) => {
      const at = { Bucket: await bucket(), Key: "written" };
      const put = (given: object) => client.send(new PutObjectCommand({ ...at, Body: "x", ...given }));
      assert.equal(await refusal(put({ IfMatch: '"0123"' })), "404 NoSuchKey");
      const { ETag } = await put({ IfNoneMatch: "*" });
      assert.equal(await refusal(put({ IfNoneMatch: "*" })), "412 PreconditionFailed");
      assert.equal(await refusal(put({ IfMatch: '"0123"' })), "412 PreconditionFailed");
      await put({ IfMatch: ETag });
    },
  },
  {
    name: "a delete under a condition spares another version of the object",
    run: async ({ client, bucket }) => {
      const at = { Bucket: await bucket(), Key: "deleted" };
      const { ETag } = await client.send(new PutObjectCommand({ ...at, Body: "x" }));
      const remove = (IfMatch?: string) => refusal(client.send(new DeleteObjectCommand({ ...at, IfMatch })));
      assert.equal(await remove('"0123"'), "412 PreconditionFailed");
      await client.send(new HeadObjectCommand(at));
      assert.equal(await remove(ETag), "no refusal");
      assert.equal(await refusal(client.send(new HeadObjectCommand(at))), "404 NotFound");
    },
  },
  {
    name: "copies keep or replace metadata, and obey the conditions of their source",
    run: async ({ client, bucket }) => {
      const Bucket = await bucket();
      const CopySource = `${Bucket}/${encodeURIComponent("från +.txt")}`;
      const { ETag } = await client.send(
        new PutObjectCommand({
          Bucket,
          Key: "från +.txt",
          Body: "text",
          ContentType: "text/plain",
          Metadata: { a: "1" },
        }),
      );
      const copy = (given: object) => client.send(new CopyObjectCommand({ Bucket, Key: "copy", CopySource, ...given }));
      const metadata = async () => (await client.send(new HeadObjectCommand({ Bucket, Key: "copy" }))).Metadata;
      assert.equal((await copy({})).CopyObjectResult?.ETag, ETag);
      assert.deepEqual(await metadata(), { a: "1" });
      await copy({ MetadataDirective: "REPLACE", Metadata: { b: "2" } });
      assert.deepEqual(await metadata(), { b: "2" });
      assert.equal(await refusal(copy({ CopySourceIfMatch: '"0123"' })), "412 PreconditionFailed");
      assert.equal(await refusal(copy({ CopySourceIfNoneMatch: ETag })), "412 PreconditionFailed");
      assert.equal(await refusal(copy({ CopySource: `${Bucket}/absent` })), "404 NoSuchKey");
      assert.equal(await refusal(copy({ CopySource: `${Bucket}/copy` })), "400 InvalidRequest");
    },
  },
  {
    name: "a copy has the checksum of its source, or the one that is asked for",
    run: async ({ client, bucket }) => {
      const Bucket = await bucket();
      await client.send(new PutObjectCommand({ Bucket, Key: "a", Body: "text", ChecksumAlgorithm: "CRC32" }));
      const copy = async (ChecksumAlgorithm?: "SHA256") =>
        (await client.send(new CopyObjectCommand({ Bucket, Key: "b", CopySource: `${Bucket}/a`, ChecksumAlgorithm })))
          .CopyObjectResult;
      assert.equal((await copy())?.ChecksumCRC32, "O4unxw==");
      assert.equal((await copy("SHA256"))?.ChecksumSHA256, "mC2ePrmW9VnmM/TRlN7zdh2Qn1o7ZH0ahR/q1nwyydE=");
      const head = await client.send(new HeadObjectCommand({ Bucket, Key: "b", ChecksumMode: "ENABLED" }));
      assert.equal(head.ChecksumSHA256, "mC2ePrmW9VnmM/TRlN7zdh2Qn1o7ZH0ahR/q1nwyydE=");
    },
  },
  {
    name: "many keys are deleted at once, absent ones too",
    run: async ({ client, bucket }) => {
      const Bucket = await bucket();
      const keys = ["a", "b/c", "å ä", "absent"];
      for (const Key of keys.slice(0, 3)) await client.send(new PutObjectCommand({ Bucket, Key, Body: "x" }));
      const { Deleted, Errors } = await client.send(
        new DeleteObjectsCommand({ Bucket, Delete: { Objects: keys.map((Key) => ({ Key })) } }),
      );
      assert.deepEqual(Deleted?.map(({ Key }) => Key).sort(), [...keys].sort());
      assert.equal(Errors, undefined);
    },
  },
];
