import assert from "node:assert/strict";
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  ListBucketsCommand,
  PutBucketVersioningCommand,
  PutObjectAclCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
} from "@aws-sdk/client-s3";
import { Buffer } from "node:buffer";
import { requestMarks } from "@/lib/std/store_addresses.ts";
import { archiveMapi, errorOf, namespace } from "./mapi_fixture.ts";
import { mapiAuthorization, startStore } from "./store_fixture.ts";
import { uploadInParts } from "@/embedded/tests/store/s3/multipart_fixture.ts";

Deno.test("audit trail: records changes of S3 clients in a bucket, not reads", async () => {
  await using store = await startStore();
  const client = await namespace(store, "trail", {});
  const last = store.reported.at(-1);
  assert.deepEqual([last?.action, last?.target, last?.actor], [
    "bucket_create",
    { kind: "bucket", bucket: "trail" },
    { name: "curator", tenant: "archive" },
  ]);
  store.reported.length = 0;
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
  const completed = await uploadInParts(client, { ...at, Key: "parts" }, ["part"]);
  await completed.again();

  const found = store.reported;
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
    assert.deepEqual([record.actor, record.address, record.tenant], [
      { name: "curator", tenant: "archive" },
      "127.0.0.1",
      "archive",
    ]);
    assert.match(record.requestId ?? "", /^[0-9a-f-]{36}$/);
  }
  assert.doesNotMatch(JSON.stringify(found), /secret/);
});

Deno.test("audit trail: records changes of accounts, rights and settings by the management API", async () => {
  await using store = await startStore();
  store.reported.length = 0;
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
  const found = store.reported;
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
  for (const { requestId } of found) assert.match(requestId ?? "", /^[0-9a-f-]{36}$/);
  assert.equal(new Set(found.map(({ requestId }) => requestId)).size, found.length);
  assert.doesNotMatch(JSON.stringify(found), /geheim|Turku/);
});

Deno.test("audit trail: a change by the system level belongs to the tenant, its account to none", async () => {
  await using store = await startStore();
  const mapi = store.mapi(null);
  const headers = mapiAuthorization("admin");
  const body = JSON.stringify({ name: "Press2", systemVisibleDescription: "", hardQuota: "10 GB", softQuota: 80 });
  store.reported.length = 0;
  const created = await fetch(`${mapi}/mapi/tenants?username=boss&password=geheim-1&initialSecurityGroup=`, {
    method: "PUT",
    headers,
    body,
  });
  assert.equal(created.status, 200, await created.text());
  const deleted = await fetch(`${mapi}/mapi/tenants/press2`, { method: "DELETE", headers });
  assert.equal(deleted.status, 200, await deleted.text());
  const admin = { name: "admin", tenant: null };
  assert.deepEqual(
    store.reported.map(({ action, tenant, actor, target, details }) => [action, tenant, actor, target.name, details]),
    [
      ["tenant_create", "press2", admin, "Press2", {}],
      ["account_create", "press2", admin, "boss", { roles: "ADMINISTRATOR, SECURITY" }],
      ["tenant_delete", "press2", admin, "Press2", {}],
    ],
  );
});

Deno.test("audit trail: a change is confirmed once it is recorded, and rejected while records fail", async () => {
  const recording = Promise.withResolvers<void>();
  const seen: string[] = [];
  const { promise: arrived, resolve: arrive } = Promise.withResolvers<void>();
  let isWorking = true;
  await using store = await startStore(undefined, {}, {
    async changed(changes) {
      const keys = changes.flatMap(({ target }) => target.key ?? []);
      seen.push(keys.join());
      if (keys[0] === "waits") {
        arrive();
        return await recording.promise;
      }
      if (!isWorking) throw new Error("no room");
    },
  });
  const client = store.client("archive", "curator");
  const put = (Key: string) => errorOf(client.send(new PutObjectCommand({ Bucket: "letters", Key, Body: "x" })));
  let isConfirmed = false;
  const waiting = put("waits").then((outcome) => {
    isConfirmed = true;
    return outcome;
  });
  await arrived;
  assert.equal(isConfirmed, false);
  recording.resolve();
  assert.equal(await waiting, "ok");
  seen.length = 0;
  isWorking = false;
  const exists = async (Key: string) => await errorOf(client.send(new GetObjectCommand({ Bucket: "letters", Key })));
  assert.match(await put("made"), /^507/);
  assert.match(await put("refused"), /^507/);
  assert.deepEqual(seen, ["made", ""], "it asks for room first");
  assert.match(await exists("refused"), /^404/);
  const response = await archiveMapi(store, "POST", "/contactInfo", {});
  assert.equal(response.status, 507, response.text);
  assert.match(response.text, /audit trail/);
  isWorking = true;
  assert.equal(await put("refused"), "ok");
  client.destroy();
});

Deno.test("audit trail: the gateway records its own changes but tasks'; forged marks are ignored", async () => {
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
    return store.reported.splice(0);
  };
  const overS3 = async (mark: string) => {
    const client = store.client("archive", "curator");
    client.middlewareStack.add((next) => (args) => {
      Object.assign((args.request as { headers: Record<string, string> }).headers, { "x-stackroom-request": mark });
      return next(args);
    }, { step: "build" });
    await client.send(new PutObjectCommand({ Bucket: "letters", Key: "marked", Body: "x" }));
    client.destroy();
    return store.reported.splice(0);
  };
  store.reported.length = 0;
  const mark = requestMarks(markKey).write(request);
  const ofTask = requestMarks(markKey).write({ ...request, isByTask: true });
  for (const change of [overMapi, overS3]) {
    assert.deepEqual(await change(mark), []);
    const byTask = await change(ofTask);
    assert.deepEqual(byTask.map(({ address, requestId, actor }) => [address, requestId, actor?.name]), [
      [request.address, request.id, "curator"],
    ]);
    const forgeries = [requestMarks(crypto.getRandomValues(new Uint8Array(32))).write(request), `${mark}, ${mark}`];
    for (const forgery of forgeries) {
      const [{ address, requestId, actor }, ...others] = await change(forgery);
      assert.deepEqual([address, actor?.name, others], ["127.0.0.1", "curator", []], forgery);
      assert.ok(!requestId?.startsWith("gateway"), forgery);
    }
  }
});

Deno.test("audit trail: failed logins of both protocols are reported, unless the gateway sent them", async () => {
  const markKey = crypto.getRandomValues(new Uint8Array(32));
  await using store = await startStore(undefined, { markKey });
  const client = store.client("archive", "curator", "wrong-password");
  assert.match(await errorOf(client.send(new ListBucketsCommand({}))), /^403/);
  client.destroy();
  const mark = { "x-stackroom-request": requestMarks(markKey).write({ id: "r", address: null }) };
  for (const [tenant, more] of [["archive", {}], [null, {}], ["archive", mark]] as const) {
    const response = await fetch(`${store.mapi(tenant)}/mapi/tenants/archive`, {
      headers: { ...mapiAuthorization("absent", "wrong-password"), ...more },
    });
    await response.body?.cancel();
    assert.equal(response.status, 403);
  }
  assert.deepEqual(
    store.failedLogins.map(({ tenant, name, address, protocol }) => [tenant, name, address, protocol]),
    [
      ["archive", "curator", "127.0.0.1", "s3"],
      ["archive", "absent", "127.0.0.1", "mapi"],
      [null, "absent", "127.0.0.1", "mapi"],
    ],
  );
  for (const { requestId } of store.failedLogins) assert.match(requestId ?? "", /^[0-9a-f-]{36}$/);
});

Deno.test("audit trail: a presigned request is recorded for the account that signed it", async () => {
  await using store = await startStore();
  const { getSignedUrl } = await import("@aws-sdk/s3-request-presigner");
  const client = await namespace(store, "shared", {});
  const url = await getSignedUrl(client, new PutObjectCommand({ Bucket: "shared", Key: "k" }), { expiresIn: 60 });
  const response = await fetch(url, { method: "PUT", body: Buffer.from("text") });
  assert.equal(response.status, 200, await response.text());
  const last = store.reported.at(-1);
  assert.deepEqual([last?.action, last?.actor?.name, last?.target.key], ["object_write", "curator", "k"]);
});
