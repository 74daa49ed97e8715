import { GetObjectCommand, ListBucketsCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { account, callMapi } from "@/embedded/tests/store/mapi_fixture.ts";
import { storeTest } from "@/embedded/tests/store/store_fixture.ts";

const NEW_USER = account("Åsa", { roles: { role: ["MONITOR"] }, allowNamespaceManagement: true });

storeTest("embedded MAPI: user accounts are created, read, used and deleted", async ({ store }) => {
  const base = "/tenants/archive/userAccounts";
  const path = `${base}/${encodeURIComponent("Åsa")}`;
  const create = (password: string, body: unknown = NEW_USER) =>
    callMapi(store, "archive", "curator", "PUT", `${base}?password=${password}`, body);
  assert.equal((await create("short")).status, 400);
  assert.equal((await create("onlyletters")).status, 400);
  assert.match((await create("passw0rd", { ...NEW_USER, enabled: undefined })).text, /enabled/);
  assert.equal((await create("passw0rd")).status, 200);
  assert.equal((await create("passw0rd")).status, 409);
  const record = (await callMapi(store, "archive", "curator", "GET", `${path}?verbose=true`)).json();
  assert.equal(record.username, "Åsa");
  assert.match(record.userGUID, /^[0-9a-f-]{36}$/);
  assert.equal(JSON.stringify(record).includes("passw0rd"), false);
  const own = store.client("archive", "Åsa", "passw0rd");
  assert.deepEqual((await own.send(new ListBucketsCommand({}))).Buckets ?? [], []);
  const elsewhere = { ...NEW_USER, username: "elsewhere", localAuthentication: false };
  assert.equal((await create("passw0rd", elsewhere)).status, 200);
  await assert.rejects(store.client("archive", "elsewhere", "passw0rd").send(new ListBucketsCommand({})), {
    name: "InvalidAccessKeyId",
  });
  assert.equal((await callMapi(store, "archive", "curator", "DELETE", path)).status, 200);
  assert.equal((await callMapi(store, "archive", "curator", "DELETE", path)).status, 404);
  assert.equal((await callMapi(store, "archive", "curator", "HEAD", path)).status, 302);
  await assert.rejects(own.send(new ListBucketsCommand({})), { name: "SignatureDoesNotMatch" });
});

storeTest("embedded MAPI: bad credentials are 403, and so is the system level", async ({ store }) => {
  const status = async (...given: Parameters<typeof callMapi> extends [unknown, ...infer Rest] ? Rest : never) =>
    (await callMapi(store, ...given)).status;
  assert.equal(await status("archive", "curator", "GET", "/tenants"), 403);
  assert.equal(await status("archive", ["curator", "wrong"], "GET", "/tenants/archive"), 403);
  assert.equal(await status("archive", "nobody", "GET", "/tenants/archive"), 403);
  assert.equal(await status("archive", "curator", "POST", "/tenants/archive/namespaces"), 405);
  assert.equal(await status("archive", "curator", "constructor", "/tenants/archive/namespaces"), 405);
  assert.equal(await status("archive", "curator", "GET", "/tenants/archive/nonsense"), 404);
  const anonymous = await fetch(`${store.mapi("archive")}/mapi/tenants/archive`);
  assert.equal(anonymous.status, 403);
  assert.ok(anonymous.headers.get("x-hcp-errormessage"));
  await anonymous.body?.cancel();
});

storeTest("embedded MAPI: a new tenant has its first user, and ports that work at once", async ({ store }) => {
  const query = "username=boss&password=passw0rd&forcePasswordChange=false";
  const body = { name: "Museum", hardQuota: "1 TB", softQuota: 80 };
  assert.equal((await callMapi(store, null, "admin", "PUT", `/tenants?${query}`, body)).status, 200);
  assert.equal((await callMapi(store, null, "admin", "PUT", `/tenants?${query}`, { name: "MUSEUM" })).status, 409);
  assert.deepEqual((await callMapi(store, null, "admin", "GET", "/tenants")).json().name, [
    "archive",
    "Museum",
    "research",
  ]);
  assert.equal(
    (await callMapi(store, "museum", ["boss", "passw0rd"], "PUT", "/tenants/museum/namespaces", { name: "first" }))
      .status,
    200,
  );
  const boss = store.client("museum", "boss", "passw0rd");
  await boss.send(new PutObjectCommand({ Bucket: "first", Key: "a", Body: "a" }));
  await boss.send(new GetObjectCommand({ Bucket: "first", Key: "a" }));
  // The new tenant has not let the system level in.
  assert.equal((await callMapi(store, null, "admin", "GET", "/tenants/museum/namespaces")).status, 403);
  assert.equal((await callMapi(store, null, "admin", "GET", "/tenants/archive/namespaces")).status, 200);
  assert.equal((await callMapi(store, null, "admin", "DELETE", "/tenants/museum")).status, 409);
});

storeTest("embedded MAPI: hostile bodies are 400 or 413, and change no prototype", async ({ store }) => {
  const put = async (body: unknown) => {
    const answer = await callMapi(store, "archive", "curator", "PUT", "/tenants/archive/namespaces", body);
    return `${answer.status} ${answer.text}`;
  };
  assert.match(await put([1]), /^400 /);
  assert.match(await put({ name: "a", description: "x".repeat(5 * 1024 * 1024) }), /^413 /);
  const polluted = JSON.parse('{"name":"a","__proto__":{"enterpriseMode":true}}');
  assert.match(await put(polluted), /^200 /);
});
