import assert from "node:assert/strict";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/samples.ts";
import { storeIdentities } from "@/lib/auth/store_credentials.ts";
import { upstreamClient } from "@/lib/http/upstream/upstream_client.ts";
import type { UpstreamRequest } from "@/lib/http/upstream/upstream_request.ts";
import type { S3 } from "@/lib/s3/client.ts";
import { genericConditions } from "@/lib/s3/probes.ts";
import { CONDITION_TABLES, type ConditionTable } from "@/lib/s3/store_kind.ts";
import { listVersions } from "@/lib/s3/listing.ts";
import { listUploads } from "@/lib/s3/multipart.ts";
import { setVersioning } from "@/lib/s3/buckets.ts";
import { startStore } from "@/tests/embedded/store/store_fixture.ts";

const leaks = { sanitizeOps: false, sanitizeResources: false };
const PLACE = { bucket: "maps", key: "folder/k" };

interface Probed {
  readonly table: ConditionTable | null;
  readonly again: ConditionTable | null;
  /** Requests of both questions, by operation. */
  readonly sent: readonly string[];
  readonly left: number;
}

/** Asks twice which conditions the embedded store holds, from which `change` takes some before they are sent. */
async function probed(
  store: Awaited<ReturnType<typeof startStore>>,
  change: (request: UpstreamRequest) => Response | void,
  isVersioned = true,
): Promise<Probed> {
  const address = store.server.address("archive");
  assert.ok(address);
  const client = upstreamClient({ verifyTls: true, timeoutMs: 30_000 });
  const sent: string[] = [];
  const plain: S3 = {
    addresses: { s3: () => Promise.resolve({ endpoint: address.s3, publicEndpoint: address.s3 }) },
    upstream: client,
    region: "us-east-1",
    now: Date.now,
  };
  const s3: S3 = {
    ...plain,
    upstream: {
      ...client,
      async send(request) {
        sent.push(nameOf(request));
        return change(request) ?? await client.send(request);
      },
    },
  };
  const caller = await storeIdentities("native")({ sub: "curator", pwd: SAMPLE_PASSWORD, tenant: "archive" });
  if (isVersioned) await setVersioning(plain, caller, PLACE.bucket, "Enabled");
  const before = await leftIn(plain, caller);
  const support = genericConditions(s3);
  const [table, again] = [await support(caller, PLACE), await support(caller, PLACE)];
  return { table, again, sent, left: await leftIn(plain, caller) - before };
}

async function leftIn(s3: S3, caller: Parameters<typeof listVersions>[1]): Promise<number> {
  const { key_count } = await listVersions(s3, caller, PLACE.bucket, { maxKeys: 1000 });
  const { uploads } = await listUploads(s3, caller, PLACE.bucket, { maxUploads: 1000 });
  return key_count + uploads.length;
}

/** The log names a copy like any other PUT. */
const nameOf = ({ operation = "", headers }: UpstreamRequest) =>
  "x-amz-copy-source" in headers ? "CopyObject" : operation;

/** A store that ignores conditions of some operations. */
const ignoring = (operations: readonly string[], names: readonly string[]) => (request: UpstreamRequest) => {
  if (operations.includes(nameOf(request))) { for (const name of names) Reflect.deleteProperty(request.headers, name); }
};

const BOTH = ["if-match", "if-none-match"];

Deno.test("condition probe: a store is tried once, and nothing of the trial stays in the bucket", leaks, async () => {
  const all = CONDITION_TABLES.embedded;
  await using store = await startStore();
  const cases: [Parameters<typeof probed>[1], ConditionTable][] = [
    [() => {}, all],
    [ignoring(["CopyObject", "DeleteObject"], BOTH), CONDITION_TABLES.minio],
    [ignoring(["CopyObject"], BOTH), CONDITION_TABLES.versitygw],
    [ignoring(["PutObject"], ["if-none-match"]), { ...all, put: ["if-match"] }],
    [ignoring(["CompleteMultipartUpload"], BOTH), { ...all, complete: [] }],
    // Headers of S3 are signed, so this one cannot be taken away.
    [({ headers }) => "x-amz-copy-source-if-match" in headers ? new Response() : undefined, {
      ...all,
      copySource: false,
    }],
    [ignoring(["PutObject", "CopyObject", "CompleteMultipartUpload", "DeleteObject"], BOTH), {
      put: [],
      complete: [],
      copy: [],
      delete: [],
      copySource: true,
    }],
  ];
  for (const isVersioned of [false, true]) {
    for (const [change, expected] of cases) {
      const { table, again, left, sent } = await probed(store, change, isVersioned);
      assert.deepEqual(table, expected);
      assert.equal(again, table);
      assert.equal(left, 0);
      assert.equal(sent.filter((operation) => operation === "ProbeEndpoint").length, 1, "asked once");
    }
  }
});

Deno.test(
  "condition probe: a caller who may not try learns nothing, and the next one tries again",
  leaks,
  async () => {
    await using store = await startStore();
    const { table, again, left, sent } = await probed(
      store,
      ({ operation }) => operation === "DeleteObject" ? new Response(null, { status: 403 }) : undefined,
    );
    assert.deepEqual([table, again, left], [null, null, 0]);
    assert.deepEqual(sent.filter((operation) => operation === "PutObject"), []);
    const broken = await probed(
      store,
      (request) => nameOf(request) === "CopyObject" ? new Response(null, { status: 503 }) : undefined,
    );
    assert.deepEqual([broken.table, broken.left], [null, 0]);
  },
);

Deno.test("condition probe: a store that names itself is not tried", leaks, async () => {
  await using store = await startStore();
  for (const [name, table] of [["MinIO", "minio"], ["VERSITYGW", "versitygw"], ["AmazonS3", "aws"]] as const) {
    const named = await probed(
      store,
      ({ operation }) => operation === "ProbeEndpoint" ? new Response(null, { headers: { Server: name } }) : undefined,
    );
    assert.equal(named.table, CONDITION_TABLES[table]);
    assert.deepEqual(named.sent, ["ProbeEndpoint"]);
  }
});
