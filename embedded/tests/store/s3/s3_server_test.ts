import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListBucketsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import assert from "node:assert/strict";
import { errorHandler } from "@/embedded/store/s3/s3_server.ts";
import { startStore, storeErrorCode, storeTest } from "@/embedded/tests/store/store_fixture.ts";

async function keys(client: S3Client, bucket: string): Promise<string[]> {
  const { Contents } = await client.send(new ListObjectsV2Command({ Bucket: bucket }));
  return (Contents ?? []).map(({ Key }) => Key ?? "");
}

storeTest("embedded S3: access follows the data permissions, and tenants are apart", async ({ store }) => {
  const reader = store.client("archive", "reader");
  const { Buckets } = await reader.send(new ListBucketsCommand({}));
  assert.deepEqual(Buckets?.map(({ Name }) => Name), ["campaigns"]);
  assert.deepEqual(await keys(reader, "campaigns"), []);
  const denied = [
    new PutObjectCommand({ Bucket: "campaigns", Key: "x", Body: "x" }),
    new DeleteObjectCommand({ Bucket: "campaigns", Key: "x" }),
    new ListObjectsV2Command({ Bucket: "letters" }),
    new GetObjectCommand({ Bucket: "maps", Key: "utkast.txt" }),
    new CreateBucketCommand({ Bucket: "mine" }),
    new DeleteBucketCommand({ Bucket: "campaigns" }),
  ];
  // deno-lint-ignore no-explicit-any -- the client's overloads do not take a union of commands
  for (const command of denied) assert.equal(await storeErrorCode(reader.send(command as any)), "AccessDenied");
  const foreign = store.client("research", "curator");
  assert.equal(await storeErrorCode(foreign.send(new ListBucketsCommand({}))), "SignatureDoesNotMatch");
});

Deno.test("embedded S3: a stopping store responds 503 to clients of both protocols", async () => {
  const answer = errorHandler("ServiceUnavailable")(new Request("http://127.0.0.1:20000/letters/x"));
  assert.deepEqual([answer.status, answer.headers.get("retry-after")], [503, "5"]);
  assert.equal(answer.headers.get("x-hcp-errormessage"), "The store is stopping");
  assert.match(answer.headers.get("x-amz-request-id") ?? "", /^[0-9a-f-]{36}$/);
  assert.match(await answer.text(), /<Code>ServiceUnavailable<\/Code>/);
});

storeTest("embedded S3: a body that ends early is never an object", async ({ store, client }) => {
  const at = { Bucket: "letters", Key: "broken.bin" };
  const url = new URL(await getSignedUrl(client, new PutObjectCommand(at), { expiresIn: 60 }));
  const connection = await Deno.connect({ hostname: "127.0.0.1", port: Number(url.port) });
  await connection.write(
    new TextEncoder().encode(
      `PUT ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\nContent-Length: 100000\r\n\r\n${
        "x".repeat(50_000)
      }`,
    ),
  );
  // The sender is done, so the store answers; what it answers is that the body is not whole.
  await connection.closeWrite();
  assert.match(await new Response(connection.readable).text(), /^(HTTP\/1.1 400 |$)/);
  assert.equal(await storeErrorCode(client.send(new HeadObjectCommand(at))), "NotFound");
  assert.ok(!(await keys(client, "letters")).includes("broken.bin"));
  assert.deepEqual(
    [...Deno.readDirSync(`${store.folder}/bodies`)].flatMap((
      { name },
    ) => [...Deno.readDirSync(`${store.folder}/bodies/${name}`)]),
    [],
  );
});

Deno.test("embedded S3: ports, objects and versions are the same after a restart", async () => {
  const folder = Deno.makeTempDirSync();
  const first = await startStore(folder);
  const url = await getSignedUrl(
    first.client("archive", "curator"),
    new GetObjectCommand({ Bucket: "maps", Key: "Malmöhus län/blad 1+2.txt" }),
    { expiresIn: 600 },
  );
  const before = await (await fetch(url)).text();
  await first.stop();
  await using _second = await startStore(folder);
  assert.equal(await (await fetch(url)).text(), before);
  assert.match(before, /rättad/);
});
