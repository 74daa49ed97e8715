import assert from "node:assert/strict";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { startStore } from "@/embedded/tests/store/store_fixture.ts";
import { storeIdentities } from "@/lib/auth/store_credentials.ts";
import { upstreamClient, type UpstreamRequest } from "@/lib/http/upstream.ts";
import { setVersioning } from "@/lib/s3/buckets.ts";
import { copyObject } from "@/lib/s3/copy.ts";
import { listVersions } from "@/lib/s3/listing.ts";
import { listUploads } from "@/lib/s3/multipart.ts";
import { putObject } from "@/lib/s3/objects.ts";
import { genericConditions, storeProbe } from "@/lib/s3/probes.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import { CONDITION_TABLES, type ConditionTable, rejectsShortBodies, storeKind } from "@/lib/s3/store_kind.ts";

Deno.test("store kind: known servers by the header that they send, and which of them reject a short body", () => {
  const servers: [server: string | null, kind: string, rejects: boolean][] = [
    ["HCP V9.5.0.12", "hcp", true],
    ["AmazonS3", "aws", true],
    ["MinIO", "minio", true],
    ["MinIO/RELEASE.2026", "minio", true],
    ["Ceph Object Gateway (squid)", "ceph", true],
    ["VERSITYGW", "versitygw", false],
    ["nginx", "unknown", false],
    ["not MinIO", "unknown", false],
    ["", "unknown", false],
    [null, "unknown", false],
  ];
  for (const [server, kind, rejects] of servers) {
    assert.equal(storeKind(server), kind);
    assert.equal(rejectsShortBodies(storeKind(server), false), rejects, String(server));
    assert.equal(rejectsShortBodies(storeKind(server), true), rejects || kind === "versitygw", String(server));
  }
});

Deno.test("store probe: asks until the store responds, then remembers its kind and whether it has uploads in parts", async () => {
  const response = (status: number, server = "") => new Response(null, { status, headers: { server } });
  const responses = [
    response(502, "nginx"),
    response(403, "VERSITYGW"),
    response(503, "nginx"),
    response(403, "VERSITYGW"),
    response(403),
    response(403, "MinIO"),
    response(404),
    response(405),
    response(501),
  ];
  const seen: string[] = [];
  const store = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, ({ method, url, headers }) => {
    const { pathname, search } = new URL(url);
    seen.push(`${method} ${pathname}${search} ${headers.has("authorization") ? "signed" : "unsigned"}`);
    return responses.shift() ?? new Response(null, { status: 599 });
  });
  const endpoint = `http://127.0.0.1:${store.addr.port}`;
  const s3 = {
    addresses: { s3: () => Promise.resolve({ endpoint, publicEndpoint: endpoint }) },
    region: "us-east-1",
    upstream: upstreamClient({ verifyTls: true, timeoutMs: 20_000 }),
    now: Date.now,
  };
  const probe = storeProbe(s3, null, "unknown");
  assert.deepEqual([await probe(), await probe()], [null, null]);
  const found = { kind: "versitygw", hasParts: true };
  assert.deepEqual([await probe(), await probe()], [found, found]);
  const keys = { accessKey: "a", secretKey: "b" };
  assert.deepEqual(await storeProbe(s3, keys, "unknown")(), { kind: "minio", hasParts: true });
  assert.deepEqual(await storeProbe(s3, keys, "minio")(), { kind: "minio", hasParts: true });
  assert.deepEqual(await storeProbe(s3, keys, "unknown")(), { kind: "unknown", hasParts: false });
  const upload = /^POST \/stackroom-probe-[0-9a-f-]{36}\/probe\?uploads= /;
  assert.deepEqual(
    seen.map((line) => upload.test(line)),
    [1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => [3, 5, 9].includes(n)),
  );
  assert.deepEqual(seen.map((line) => line.endsWith(" signed")), seen.map((_, index) => index >= 5));
  await store.shutdown();
  assert.equal(await storeProbe(s3, null, "unknown")(), null);
});

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

Deno.test("condition probe: a store is tried once, and nothing of the trial stays in the bucket", async () => {
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
    const body = () => new ReadableStream({ start: (controller) => controller.error(new Error("broke off")) });
    const responses = [new Response(body())];
    const brokenOnce = await probed(
      store,
      ({ operation }) => operation === "ProbeEndpoint" ? responses.shift() : undefined,
    );
    assert.deepEqual([brokenOnce.table, brokenOnce.again], [null, CONDITION_TABLES.embedded]);
  },
);

Deno.test("condition probe: a copy without conditions does not ask", async () => {
  await using store = await startStore();
  const address = store.server.address("archive");
  assert.ok(address);
  const s3: S3 = {
    addresses: { s3: () => Promise.resolve({ endpoint: address.s3, publicEndpoint: address.s3 }) },
    upstream: upstreamClient({ verifyTls: true, timeoutMs: 30_000 }),
    region: "us-east-1",
    now: Date.now,
    conditions: () => assert.fail("asked"),
  };
  const caller = await storeIdentities("native")({ sub: "curator", pwd: SAMPLE_PASSWORD, tenant: "archive" });
  const lengthBytes = 0;
  await putObject(s3, caller, PLACE, { body: new Uint8Array(lengthBytes), lengthBytes, headers: {} });
  await copyObject(s3, caller, { source: PLACE, target: { ...PLACE, key: `${PLACE.key}.copy` } });
});

Deno.test("condition probe: a store that names itself is not tried", async () => {
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
