import { type ChecksumAlgorithm, GetObjectCommand, HeadObjectCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { clientOf } from "@/embedded/tests/store/acl_fixture.ts";
import { checksum } from "@/embedded/tests/store/checksum.ts";
import { storeErrorCode, storeTest } from "@/embedded/tests/store/store_fixture.ts";

/** Large enough to be kept as a file and to arrive in many pieces. */
const LARGE = new Uint8Array(700_001).map((_, i) => (i * 31 + (i >> 8)) % 256);

storeTest("S3 digests: each algorithm is verified, stored and returned on request", async ({ client }) => {
  const plain = { Bucket: "letters", Key: "plain" };
  const stored = await client.send(new PutObjectCommand({ ...plain, Body: LARGE }));
  assert.deepEqual([stored.ChecksumCRC64NVME, stored.ChecksumType], [checksum("crc64nvme", LARGE), "FULL_OBJECT"]);
  for (const algorithm of ["crc32", "crc32c", "crc64nvme", "sha1", "sha256"] as const) {
    const at = { Bucket: "letters", Key: `${algorithm}.bin` };
    const name = `Checksum${algorithm.toUpperCase()}` as `Checksum${ChecksumAlgorithm & "SHA1"}`;
    const value = checksum(algorithm, LARGE);
    const put = await client.send(new PutObjectCommand({ ...at, Body: LARGE, [name]: value }));
    assert.equal(put[name], value);
    assert.equal(put.ChecksumType, "FULL_OBJECT");
    const head = await client.send(new HeadObjectCommand({ ...at, ChecksumMode: "ENABLED" }));
    assert.equal(head[name], value);
    assert.equal((await client.send(new HeadObjectCommand(at)))[name], undefined);
    const part = await client.send(new GetObjectCommand({ ...at, ChecksumMode: "ENABLED", Range: "bytes=0-9" }));
    assert.deepEqual(await part.Body?.transformToByteArray(), LARGE.slice(0, 10));
    assert.equal(part[name], undefined);
    const other = new PutObjectCommand({ ...at, Body: "other", [name]: value });
    assert.equal(await storeErrorCode(client.send(other)), "BadDigest");
    const malformed = new PutObjectCommand({ ...at, Body: "other", [name]: "AAAA" });
    assert.equal(await storeErrorCode(client.send(malformed)), "InvalidRequest");
    assert.equal((await client.send(new HeadObjectCommand(at))).ContentLength, LARGE.length);
  }
});

storeTest("S3 digests: a checksum is stored with each version", async ({ store }) => {
  const client = clientOf(store, "curator");
  const at = { Bucket: "maps", Key: "checksums.txt" };
  const first = await client.send(new PutObjectCommand({ ...at, Body: "first", ChecksumAlgorithm: "SHA256" }));
  await client.send(new PutObjectCommand({ ...at, Body: "second" }));
  const old = new HeadObjectCommand({ ...at, VersionId: first.VersionId, ChecksumMode: "ENABLED" });
  assert.equal((await client.send(old)).ChecksumSHA256, checksum("sha256", "first"));
});

storeTest("S3 digests: statements that contradict each other are rejected", async ({ client }) => {
  const at = { Bucket: "letters", Key: "contradiction" };
  const body = new TextEncoder().encode("abc");
  const send = async (headers: Record<string, string>) => {
    const command = new PutObjectCommand({ ...at, Body: body });
    command.middlewareStack.add((next) => (args) => {
      Object.assign((args.request as { headers: Record<string, string> }).headers, headers);
      return next(args);
    }, { step: "build" });
    return await storeErrorCode(client.send(command));
  };
  const crc32 = { "x-amz-checksum-crc32": checksum("crc32", body) };
  assert.equal(await send({ ...crc32, "x-amz-sdk-checksum-algorithm": "crc32" }), "ok");
  assert.equal(await send({ ...crc32, "x-amz-sdk-checksum-algorithm": "SHA1" }), "InvalidRequest");
  assert.equal(await send({ "x-amz-sdk-checksum-algorithm": "CRC32" }), "InvalidRequest");
  assert.equal(await send({ ...crc32, "x-amz-checksum-sha1": checksum("sha1", body) }), "InvalidRequest");
  assert.equal(await send({ "x-amz-trailer": "x-amz-checksum-crc32" }), "InvalidRequest");
  assert.equal(await send({ "x-amz-checksum-crc128": "AAAA" }), "NotImplemented");
  assert.equal(await send({ "content-md5": "AAAA" }), "InvalidDigest");
  assert.equal(await send({ "content-md5": createHash("md5").update(body).digest("base64") }), "ok");
});

storeTest("S3 signatures: a URL's holds for 1 second to 7 days, and a header's for 15 minutes", async ({ store }) => {
  const client = clientOf(store, "curator");
  const at = { Bucket: "letters", Key: "nobody" };
  const url = await getSignedUrl(client, new GetObjectCommand(at), { expiresIn: 60 });
  for (const expires of ["1.5", "", "x", "0", "604801", "-1", "99999999999999"]) {
    const answer = await fetch(url.replace("X-Amz-Expires=60", `X-Amz-Expires=${expires}`));
    assert.equal(answer.status, 400);
    assert.match(await answer.text(), /AuthorizationQueryParametersError/);
  }
  const shifted = async (ms: number) => {
    const signed = await getSignedUrl(client, new GetObjectCommand(at), {
      expiresIn: 604_800,
      signingDate: new Date(Date.now() + ms),
    });
    return /<Code>(\w+)/.exec(await (await fetch(signed)).text())?.[1];
  };
  assert.equal(await shifted(14 * 60_000), "NoSuchKey");
  assert.equal(await shifted(16 * 60_000), "AccessDenied");
  assert.equal(await shifted(-604_700_000), "NoSuchKey");
  assert.equal(await shifted(-604_801_000), "AccessDenied");
  for (const [minutes, name] of [[14, "NoSuchKey"], [-14, "NoSuchKey"], [16, "skewed"], [-16, "skewed"]] as const) {
    const skewed = clientOf(store, "curator");
    skewed.config.systemClockOffset = minutes * 60_000;
    const refused = await storeErrorCode(skewed.send(new GetObjectCommand(at)));
    assert.equal(refused, name === "skewed" ? "RequestTimeTooSkewed" : name);
  }
});
