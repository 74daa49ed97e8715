import assert from "node:assert/strict";
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  GetObjectRetentionCommand,
  ListObjectVersionsCommand,
  S3Client,
} from "@aws-sdk/client-s3";
import { randomBytes } from "node:crypto";
import { bucketSink } from "@/lib/audit/bucket_sink.ts";
import { upstreamClient } from "@/lib/http/upstream/upstream_client.ts";
import { event, eventually, sealer } from "@/tests/lib/audit/audit_fixture.ts";

/** Clients outlive single tests. */
const leaks = { sanitizeOps: false, sanitizeResources: false };

for (const server of ["VERSITYGW", "MINIO"] as const) {
  const [endpoint, accessKey, secretKey] = ["URL", "ACCESS_KEY", "SECRET_KEY"].map((part) =>
    Deno.env.get(`TEST_${server}_${part}`) ?? ""
  );
  const why = endpoint ? "" : ` (needs TEST_${server}_URL, _ACCESS_KEY and _SECRET_KEY)`;
  Deno.test({
    name: `audit bucket, ${server}: records are objects under a lock that a deletion does not pass${why}`,
    ...leaks,
    ignore: !endpoint,
    async fn() {
      const client = new S3Client({
        endpoint,
        region: "us-east-1",
        forcePathStyle: true,
        credentials: { accessKeyId: accessKey, secretAccessKey: secretKey },
      });
      const Bucket = `trail-${randomBytes(4).toString("hex")}`;
      await client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: true }));
      const sink = bucketSink({
        s3: {
          addresses: { s3: () => Promise.resolve({ endpoint, publicEndpoint: endpoint }) },
          region: "us-east-1",
          upstream: upstreamClient({ verifyTls: true, timeoutMs: 30_000 }),
          now: Date.now,
        },
        bucket: Bucket,
        prefix: "audit/",
        keys: () => ({ accessKey, secretKey }),
        lock: { mode: "GOVERNANCE", days: 1 },
        lingerMs: 20,
        warn: assert.fail,
      });
      const seal = sealer("0123abcd");
      const before = Date.now();
      for (let n = 0; n < 3; n++) sink.offer(seal(event(), before));
      await eventually(() => sink.sent === 3);
      await sink.close(60_000);
      const { Versions: [object, ...others] = [] } = await client.send(new ListObjectVersionsCommand({ Bucket }));
      assert.deepEqual(others, []);
      const { Key, VersionId } = object;
      assert.match(Key ?? "", /^audit\/\d{4}\/\d\d\/\d\d\/\d{8}T\d{9}Z-0123abcd\.1\.jsonl$/);
      const { Body } = await client.send(new GetObjectCommand({ Bucket, Key }));
      const lines = (await Body!.transformToString()).trimEnd().split("\n");
      assert.deepEqual(lines.map((line) => JSON.parse(line).id), [1, 2, 3].map((n) => `0123abcd.${n}`));
      const { Retention } = await client.send(new GetObjectRetentionCommand({ Bucket, Key, VersionId }));
      assert.equal(Retention?.Mode, "GOVERNANCE");
      assert.ok((Retention?.RetainUntilDate?.getTime() ?? 0) >= before + 86_400_000 - 1000);
      await assert.rejects(client.send(new DeleteObjectCommand({ Bucket, Key, VersionId })));
      await client.send(new DeleteObjectCommand({ Bucket, Key, VersionId, BypassGovernanceRetention: true }));
      await client.send(new DeleteBucketCommand({ Bucket }));
      client.destroy();
    },
  });
}
