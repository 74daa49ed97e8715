import assert from "node:assert/strict";
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  ListBucketsCommand,
  PutBucketVersioningCommand,
  PutObjectAclCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { Buffer } from "node:buffer";
import { FailedLogins } from "@/embedded/store/context/failed_logins.ts";
import { requestMarks } from "@/lib/std/request_mark.ts";
import { archiveMapi, errorOf, eventually, namespace } from "./mapi_fixture.ts";
import { leaks, mapiAuthorization, startStore, type Store } from "./store_fixture.ts";

interface Found {
  id: string;
  action: string;
  tenant: string | null;
  actor: { name: string } | null;
  address: string | null;
  request_id: string | null;
  target: Record<string, string>;
  result: string;
  details: Record<string, unknown>;
}

async function page(store: Store, query: Record<string, string | number> = {}, user = "curator") {
  const text = new URLSearchParams(Object.entries(query).map(([name, value]) => [name, String(value)]));
  const response = await archiveMapi(store, "GET", `/auditRecords?${text}`, undefined, user);
  assert.equal(response.status, 200, response.text);
  return response.json() as { auditRecord: Found[]; next: string | null };
}

/** The records of the tenant archive after one of them, the oldest first. */
async function since(store: Store, last: Found, query: Record<string, string | number> = {}): Promise<Found[]> {
  const { auditRecord } = await page(store, { count: 1000, ...query });
  return auditRecord.filter(({ id }) => Number(id) > Number(last.id)).reverse();
}

async function newest(store: Store): Promise<Found> {
  return (await page(store, { count: 1 })).auditRecord[0];
}

Deno.test("audit trail: says what S3 clients changed in a bucket, and nothing of what they read", leaks, async () => {
  await using store = await startStore();
  const client = await namespace(store, "trail", {});
  const last = await newest(store);
  assert.deepEqual([last.action, last.target, last.actor], [
    "bucket_create",
    { kind: "bucket", bucket: "trail" },
    { name: "curator" },
  ]);
  const at = { Bucket: "trail", Key: "a/b" };
  await client.send(new PutObjectCommand({ ...at, Body: "one" }));
  await client.send(new PutObjectCommand({ ...at, Body: "three" }));
  await (await client.send(new GetObjectCommand(at))).Body?.transformToString();
  await client.send(new PutObjectTaggingCommand({ ...at, Tagging: { TagSet: [{ Key: "k", Value: "secret" }] } }));
  await client.send(new PutObjectAclCommand({ ...at, ACL: "public-read" }));
  await client.send(new DeleteObjectCommand(at));
  await client.send(new DeleteObjectCommand({ ...at, Key: "absent" }));
  assert.notEqual(await errorOf(client.send(new PutObjectCommand({ ...at, Body: "x", IfMatch: '"other"' }))), "ok");
  const versioned = { Bucket: "trail", VersioningConfiguration: { Status: "Enabled" as const } };
  await client.send(new PutBucketVersioningCommand(versioned));
  const put = await client.send(new PutObjectCommand({ ...at, Body: "v" }));
  const marker = await client.send(new DeleteObjectCommand(at));
  await client.send(
    new DeleteObjectsCommand({
      Bucket: "trail",
      Delete: { Objects: [{ Key: "a/b", VersionId: put.VersionId }, { Key: "other" }] },
    }),
  );
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ ...at, Key: "parts" }));
  const part = { ...at, Key: "parts", UploadId };
  const { ETag } = await client.send(new UploadPartCommand({ ...part, PartNumber: 1, Body: "part" }));
  const whole = { ...part, MultipartUpload: { Parts: [{ PartNumber: 1, ETag }] } };
  const completed = await client.send(new CompleteMultipartUploadCommand(whole));
  await client.send(new CompleteMultipartUploadCommand(whole));

  const found = await since(store, last);
  const object = (key: string, more = {}) => ({ kind: "object", bucket: "trail", key, ...more });
  assert.deepEqual(found.map(({ action, target, details }) => [action, target, details]), [
    ["object_write", object("a/b"), { bytes: 3 }],
    ["object_write", object("a/b"), { bytes: 5, replaced: true }],
    ["object_tags", object("a/b"), {}],
    ["object_acl", object("a/b"), {}],
    ["object_delete", object("a/b"), {}],
    ["object_delete", object("absent"), { absent: true }],
    ["bucket_settings", { kind: "bucket", bucket: "trail" }, { settings: "versioning", versioning: "enabled" }],
    ["object_write", object("a/b", { version_id: put.VersionId }), { bytes: 1 }],
    ["object_delete", object("a/b", { version_id: marker.VersionId }), { marker: true }],
    ["object_delete", object("a/b", { version_id: put.VersionId }), {}],
    ["object_delete", found[10].target, { marker: true, absent: true }],
    ["object_write", object("parts", { version_id: completed.VersionId }), { bytes: 4, parts: 1 }],
  ]);
  for (const record of found) {
    assert.deepEqual([record.actor, record.address, record.tenant, record.result], [
      { name: "curator" },
      "127.0.0.1",
      "archive",
      "succeeded",
    ]);
    assert.match(record.request_id ?? "", /^[0-9a-f-]{36}$/);
  }
  assert.doesNotMatch(JSON.stringify(found), /secret/);
});

Deno.test("audit trail: says what the management API changed of accounts, rights and settings", leaks, async () => {
  await using store = await startStore();
  const last = await newest(store);
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await archiveMapi(store, method, path, body);
    assert.equal(response.status, 200, `${method} ${path}: ${response.text}`);
  };
  const lena = { username: "lena", fullName: "Lena", localAuthentication: true, enabled: true };
  await call("PUT", "/userAccounts?password=geheim-1", { ...lena, forcePasswordChange: false });
  await call("POST", "/userAccounts/lena", { roles: { role: ["MONITOR"] } });
  await call("POST", "/userAccounts/lena/changePassword", { newPassword: "geheim-22" });
  await call("POST", "/userAccounts/lena/dataAccessPermissions", {
    namespacePermission: [{ namespaceName: "letters", permissions: { permission: ["READ", "BROWSE"] } }],
  });
  await call("PUT", "/groupAccounts", { groupname: "readers" });
  await call("DELETE", "/groupAccounts/readers");
  await call("DELETE", "/userAccounts/lena");
  await call("POST", "/contactInfo", { city: "Turku" });
  await call("PUT", "/contentClasses", { name: "papers" });
  await call("DELETE", "/contentClasses/papers");
  await call("POST", "/namespaces/letters", { description: "new" });
  await call("POST", "/namespaces/letters/permissions", { deleteAllowed: false });
  const found = await since(store, last);
  assert.deepEqual(found.map(({ action, target, details }) => [action, target, details]), [
    ["account_create", { kind: "account", name: "lena" }, { roles: "" }],
    ["account_change", { kind: "account", name: "lena" }, { settings: "roles", roles: "MONITOR" }],
    ["password_change", { kind: "account", name: "lena" }, {}],
    ["permissions_change", { kind: "account", bucket: "letters", name: "lena" }, { permissions: "BROWSE, READ" }],
    ["group_create", { kind: "group", name: "readers" }, { roles: "", members: 0 }],
    ["group_delete", { kind: "group", name: "readers" }, {}],
    ["account_delete", { kind: "account", name: "lena" }, {}],
    ["tenant_settings", { kind: "tenant" }, { settings: "contactInfo" }],
    ["content_class_create", { kind: "content_class", name: "papers" }, {}],
    ["content_class_delete", { kind: "content_class", name: "papers" }, {}],
    ["bucket_settings", { kind: "bucket", bucket: "letters" }, { settings: "description" }],
    ["permissions_change", { kind: "bucket", bucket: "letters" }, { settings: "permissions" }],
  ]);
  for (const { request_id } of found) assert.match(request_id ?? "", /^[0-9a-f-]{36}$/);
  assert.equal(new Set(found.map(({ request_id }) => request_id)).size, found.length);
  assert.doesNotMatch(JSON.stringify(found), /geheim|Turku/);
});

Deno.test(
  "audit trail: administrators and security officers of a tenant read its records, and no others",
  leaks,
  async () => {
    await using store = await startStore();
    const status = async (user: string, tenant = "archive") => {
      const url = `${store.mapi(tenant)}/mapi/tenants/${tenant}/auditRecords`;
      const response = await fetch(url, { headers: mapiAuthorization(user) });
      await response.body?.cancel();
      return response.status;
    };
    assert.equal(await status("curator"), 200);
    const made = await archiveMapi(store, "PUT", "/userAccounts?password=geheim-1", {
      username: "lena",
      fullName: "Lena",
      localAuthentication: true,
      enabled: true,
      forcePasswordChange: false,
      roles: { role: ["MONITOR", "COMPLIANCE"] },
    });
    assert.equal(made.status, 200, made.text);
    const asLena = async () => {
      const response = await fetch(`${store.mapi("archive")}/mapi/tenants/archive/auditRecords`, {
        headers: mapiAuthorization("lena", "geheim-1"),
      });
      await response.body?.cancel();
      return response.status;
    };
    assert.equal(await asLena(), 403);
    await archiveMapi(store, "POST", "/userAccounts/lena", { roles: { role: ["SECURITY"] } });
    assert.equal(await asLena(), 200);
    const foreign = await fetch(`${store.mapi("archive")}/mapi/tenants/press/auditRecords`, {
      headers: mapiAuthorization("curator"),
    });
    await foreign.body?.cancel();
    assert.equal(foreign.status, 403);
    let next: string | null = null;
    do {
      const found = await page(store, { count: 7, ...(next === null ? {} : { after: next }) });
      assert.deepEqual([...new Set(found.auditRecord.map(({ tenant }) => tenant))], ["archive"]);
      ({ next } = found);
    } while (next !== null);
  },
);

Deno.test("audit trail: the system level reads what its accounts did, in tenants as well", leaks, async () => {
  await using store = await startStore();
  const mapi = store.mapi(null);
  const headers = mapiAuthorization("admin");
  const body = JSON.stringify({ name: "press2", systemVisibleDescription: "", hardQuota: "10 GB", softQuota: 80 });
  const created = await fetch(`${mapi}/mapi/tenants?username=boss&password=geheim-1&initialSecurityGroup=`, {
    method: "PUT",
    headers,
    body,
  });
  assert.equal(created.status, 200, await created.text());
  const { auditRecord } = await (await fetch(`${mapi}/mapi/auditRecords?count=2&actor=admin`, { headers })).json();
  assert.deepEqual(auditRecord.map(({ action, target, details }: Found) => [action, target.name, details]), [
    ["account_create", "boss", { roles: "ADMINISTRATOR, SECURITY", system_account: true }],
    ["tenant_create", "press2", { system_account: true }],
  ]);
  // A tenant's level has no such resource of its own.
  const inside = await fetch(`${store.mapi("archive")}/mapi/auditRecords`, { headers: mapiAuthorization("curator") });
  await inside.body?.cancel();
  assert.equal(inside.status, 403);
});

Deno.test("audit trail: pages follow each other without a gap, and filters name what they select", leaks, async () => {
  await using store = await startStore();
  const client = await namespace(store, "pages", {});
  const keys = Array.from({ length: 25 }, (_, n) => `${n % 2 === 0 ? "even" : "odd"}/${n}`);
  for (const Key of keys) await client.send(new PutObjectCommand({ Bucket: "pages", Key, Body: Key }));
  const found: Found[] = [];
  let next: string | null = null;
  do {
    const query: Record<string, string | number> = { count: 4, bucket: "pages", action: "object_write" };
    const one: { auditRecord: Found[]; next: string | null } = await page(
      store,
      next === null ? query : { ...query, after: next },
    );
    found.push(...one.auditRecord);
    ({ next } = one);
  } while (next !== null);
  assert.deepEqual(found.map(({ target }) => target.key), keys.toReversed());

  const count = async (query: Record<string, string>) =>
    (await page(store, { count: 1000, ...query })).auditRecord.length;
  assert.equal(await count({ bucket: "pages", prefix: "odd/" }), 12);
  assert.equal(await count({ bucket: "pages", actor: "reader" }), 0);
  assert.equal(await count({ requestId: found[3].request_id ?? "" }), 1);
  const times = found.map((record) => (record as Found & { time: string }).time);
  assert.equal(await count({ bucket: "pages", from: "2999-01-01T00:00:00Z" }), 0);
  assert.equal(await count({ bucket: "pages", action: "object_write", from: times[24] }), 25);
  assert.equal(await count({ bucket: "pages", action: "object_write", to: times[24] }), 0);
  const errors: Record<string, RegExp> = {
    "from=yesterday": /from/,
    "action=look": /action/,
    "count=0": /count/,
    "count=1001": /count/,
    "after=x": /after/,
    "result=maybe": /result/,
  };
  for (const [query, names] of Object.entries(errors)) {
    const { status, text } = await archiveMapi(store, "GET", `/auditRecords?${query}`);
    assert.deepEqual([status, names.test(text)], [400, true], `${query}: ${text}`);
  }
});

Deno.test(
  "audit trail: a mark of the gateway names its client, one that a client of the store's ports forges says nothing",
  leaks,
  async () => {
    const markKey = crypto.getRandomValues(new Uint8Array(32));
    await using store = await startStore(undefined, { markKey });
    const request = { id: "gateway-1", address: "192.0.2.7" };
    const overMapi = async (mark: string) => {
      const response = await fetch(`${store.mapi("archive")}/mapi/tenants/archive/contactInfo`, {
        method: "POST",
        headers: { ...mapiAuthorization("curator"), "x-stackroom-request": mark },
        body: "{}",
      });
      assert.equal(response.status, 200, await response.text());
      return await newest(store);
    };
    const overS3 = async (mark: string) => {
      const client = store.client("archive", "curator");
      client.middlewareStack.add((next) => (args) => {
        Object.assign((args.request as { headers: Record<string, string> }).headers, { "x-stackroom-request": mark });
        return next(args);
      }, { step: "build" });
      await client.send(new PutObjectCommand({ Bucket: "letters", Key: "marked", Body: "x" }));
      client.destroy();
      return await newest(store);
    };
    const mark = requestMarks(markKey).write(request);
    for (const change of [overMapi, overS3]) {
      const marked = await change(mark);
      assert.deepEqual([marked.address, marked.request_id, marked.details.via], ["192.0.2.7", "gateway-1", "gateway"]);
      assert.equal(marked.actor?.name, "curator", "a mark says nothing of the account");
      const forgeries = [
        requestMarks(new Uint8Array(32)).write(request),
        requestMarks(crypto.getRandomValues(new Uint8Array(32))).write(request),
        mark.replace("192.0.2.7", "192.0.2.8"),
        mark.replace("192.0.2.7", "-"),
        mark.replace("gateway-1", "gateway-2"),
        mark.slice(0, -1),
        `${mark}, ${mark}`,
        `gateway-1 192.0.2.7 ${"0".repeat(64)}`,
        "gateway-1 192.0.2.7",
      ];
      for (const forgery of forgeries) {
        const { address, request_id, details, actor, id } = await change(forgery);
        assert.deepEqual([address, details.via, actor?.name], ["127.0.0.1", undefined, "curator"], forgery);
        assert.ok(!request_id?.startsWith("gateway"), forgery);
        const { auditRecord } = await page(store, { count: 1, direct: "true" });
        assert.equal(auditRecord[0].id, id, `${forgery}: it is not left out as one that the gateway has`);
      }
    }
  },
);

Deno.test("audit trail: failed logins of both protocols are recorded", leaks, async () => {
  await using store = await startStore();
  const last = await newest(store);
  const client = store.client("archive", "curator", "wrong-password");
  assert.match(await errorOf(client.send(new ListBucketsCommand({}))), /^403/);
  const response = await fetch(`${store.mapi("archive")}/mapi/tenants/archive`, {
    headers: mapiAuthorization("absent", "wrong-password"),
  });
  await response.body?.cancel();
  assert.equal(response.status, 403);
  await eventually(2, async () => (await since(store, last)).length);
  const found = await since(store, last, { result: "refused" });
  assert.deepEqual(found.map(({ action, target, result, details }) => [action, target, result, details]), [
    ["login_failed", { kind: "account", name: "curator" }, "refused", { protocol: "s3", count: 1 }],
    ["login_failed", { kind: "account", name: "absent" }, "refused", { protocol: "mapi", count: 1 }],
  ]);
});

Deno.test("failed logins: a flood of them is a few records, whose counts are all of them", async () => {
  const written: { name: string | null; address: string | null; count: number }[] = [];
  const failures = new FailedLogins({
    change(kind, input) {
      if (kind === "recordFailedLogins" && "failures" in input) written.push(...input.failures);
      return Promise.resolve(null as never);
    },
    changeAll: () => Promise.reject(new Error("not called")),
    by: () => {
      throw new Error("not called");
    },
  });
  for (let n = 0; n < 10_000; n++) {
    failures.record({ tenant: 1, name: `guess ${n % 1000}`, address: "192.0.2.7", protocol: "s3", isByGateway: false });
  }
  failures.record({ tenant: 1, name: "x".repeat(100_000), address: "192.0.2.8", protocol: "s3", isByGateway: false });
  await failures.flush();
  assert.equal(written.reduce((sum, { count }) => sum + count, 0), 10_001);
  assert.ok(written.length <= 201, String(written.length));
  assert.ok(written.some(({ name, address }) => name === null && address === null));
  assert.ok(written.every(({ name }) => (name ?? "").length <= 128));
});

Deno.test("audit trail: a presigned URL's use is that of the account that signed it", leaks, async () => {
  await using store = await startStore();
  const { getSignedUrl } = await import("@aws-sdk/s3-request-presigner");
  const client = await namespace(store, "shared", {});
  const url = await getSignedUrl(client, new PutObjectCommand({ Bucket: "shared", Key: "k" }), { expiresIn: 60 });
  const response = await fetch(url, { method: "PUT", body: Buffer.from("text") });
  assert.equal(response.status, 200, await response.text());
  const { action, actor, target } = await newest(store);
  assert.deepEqual([action, actor?.name, target.key], ["object_write", "curator", "k"]);
});
