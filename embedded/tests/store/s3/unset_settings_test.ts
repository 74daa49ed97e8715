import {
  GetBucketAccelerateConfigurationCommand,
  GetBucketLoggingCommand,
  GetBucketNotificationConfigurationCommand,
  GetBucketPolicyStatusCommand,
  GetBucketRequestPaymentCommand,
  ListBucketAnalyticsConfigurationsCommand,
  ListBucketIntelligentTieringConfigurationsCommand,
  ListBucketInventoryConfigurationsCommand,
  ListBucketMetricsConfigurationsCommand,
  PutBucketAclCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { AwsClient } from "aws4fetch";
import assert from "node:assert/strict";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { makeUser } from "@/embedded/tests/store/acl_fixture.ts";
import { s3Keys, storeTest } from "@/embedded/tests/store/store_fixture.ts";
import { codeOf, signedFetch } from "./signed_fetch.ts";

/** Each setting's parameter with the code by which S3 says that none was set. */
const ABSENT: Readonly<Record<string, string>> = {
  "lifecycle": "NoSuchLifecycleConfiguration",
  "encryption": "ServerSideEncryptionConfigurationNotFoundError",
  "policy": "NoSuchBucketPolicy",
  "tagging": "NoSuchTagSet",
  "website": "NoSuchWebsiteConfiguration",
  "replication": "ReplicationConfigurationNotFoundError",
  "object-lock": "ObjectLockConfigurationNotFoundError",
  "publicAccessBlock": "NoSuchPublicAccessBlockConfiguration",
  "ownershipControls": "OwnershipControlsNotFoundError",
};

storeTest("absent S3 settings: reading them is 404 with S3's code, writing them 501", async ({ store }) => {
  const send = (method: string, path: string, query: string, body?: string) =>
    signedFetch(store.s3("archive"), {
      method,
      path,
      query: query.split("&").sort().join("&"),
      body: body === undefined ? undefined : new TextEncoder().encode(body),
    });
  for (const [setting, code] of Object.entries(ABSENT)) {
    const read = await send("GET", "/letters", `${setting}=`);
    assert.deepEqual([read.status, await codeOf(read)], [404, code], setting);
    assert.equal(await codeOf(await send("PUT", "/letters", `${setting}=`, "<X/>")), "NotImplemented", setting);
    const isLock = setting === "object-lock";
    assert.equal((await send("DELETE", "/letters", `${setting}=`)).status, isLock ? 501 : 204, setting);
    assert.equal(await codeOf(await send("GET", "/nothing", `${setting}=`)), "NoSuchBucket", setting);
  }
  const key = "/letters/1801/%C3%96fversikt%2050%25%20klar.txt";
  for (const lock of ["retention", "legal-hold"]) {
    assert.equal(await codeOf(await send("GET", key, `${lock}=`)), "NoSuchObjectLockConfiguration");
    assert.equal(await codeOf(await send("GET", "/letters/none", `${lock}=`)), "NoSuchKey");
    assert.equal(await codeOf(await send("PUT", key, `${lock}=`, "<X/>")), "NotImplemented");
  }
  for (const list of ["analytics", "intelligent-tiering", "inventory", "metrics"]) {
    assert.equal(await codeOf(await send("GET", "/letters", `${list}=&id=1`)), "NoSuchConfiguration");
    assert.equal(await codeOf(await send("DELETE", "/letters", `${list}=&id=1`)), "NoSuchConfiguration");
    assert.equal(await codeOf(await send("PUT", "/letters", `${list}=&id=1`, "<X/>")), "NotImplemented");
  }
});

storeTest("absent S3 settings: those that are never absent in S3 read as empty", async ({ client }) => {
  const at = { Bucket: "letters" };
  const read = async (answer: Promise<{ $metadata: unknown }>) => {
    const { $metadata: _, ...rest } = await answer;
    return rest;
  };
  assert.deepEqual(await read(client.send(new GetBucketLoggingCommand(at))), {});
  assert.deepEqual(await read(client.send(new GetBucketNotificationConfigurationCommand(at))), {});
  assert.deepEqual(await read(client.send(new GetBucketAccelerateConfigurationCommand(at))), {});
  assert.deepEqual(await read(client.send(new GetBucketRequestPaymentCommand(at))), { Payer: "BucketOwner" });
  for (
    const list of [
      client.send(new ListBucketAnalyticsConfigurationsCommand(at)),
      client.send(new ListBucketIntelligentTieringConfigurationsCommand(at)),
      client.send(new ListBucketInventoryConfigurationsCommand(at)),
      client.send(new ListBucketMetricsConfigurationsCommand(at)),
    ]
  ) assert.deepEqual(await read(list), { IsTruncated: false });
  const status = async () => (await client.send(new GetBucketPolicyStatusCommand(at))).PolicyStatus?.IsPublic;
  assert.equal(await status(), false);
  await client.send(new PutBucketAclCommand({ ...at, ACL: "public-read" }));
  assert.equal(await status(), true);
});

storeTest("absent S3 settings: only the owner takes them away, and strangers read none", async ({ store }) => {
  await makeUser(store, "stranger");
  await store.client("archive", "curator").send(new PutObjectCommand({ Bucket: "letters", Key: "k", Body: "x" }));
  const { accessKeyId, secretAccessKey } = s3Keys("stranger", SAMPLE_PASSWORD);
  const stranger = new AwsClient({ accessKeyId, secretAccessKey, service: "s3", region: "us-east-1", retries: 0 });
  const origin = store.s3("archive");
  for (const method of ["GET", "DELETE"]) {
    const refused = await stranger.fetch(`${origin}/letters?lifecycle=`, { method });
    assert.equal(await codeOf(refused), "AccessDenied", method);
    assert.equal(await codeOf(await fetch(`${origin}/letters?policy`, { method })), "AccessDenied", method);
  }
  assert.equal(await codeOf(await stranger.fetch(`${origin}/letters/k?retention=`)), "AccessDenied");
});
