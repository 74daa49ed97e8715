import assert from "node:assert/strict";
import { GetObjectCommand, ListBucketsCommand, PutObjectCommand } from "@aws-sdk/client-s3";
import { mapiAuthorization, startStore } from "./store_fixture.ts";

const leaks = { sanitizeOps: false, sanitizeResources: false };

type Store = Awaited<ReturnType<typeof startStore>>;

/** Calls the management API of a level as one of its users. */
async function call(
  store: Store,
  level: string | null,
  user: string,
  method: string,
  path: string,
  body?: unknown,
  password?: string,
) {
  const response = await fetch(`${store.mapi(level)}/mapi${path}`, {
    method,
    redirect: "manual",
    headers: mapiAuthorization(user, password),
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) };
}

const NEW_USER = {
  username: "Åsa",
  fullName: "Åsa Berg",
  localAuthentication: true,
  enabled: true,
  forcePasswordChange: false,
  roles: { role: ["MONITOR"] },
  allowNamespaceManagement: true,
};

Deno.test("embedded MAPI: a namespace is a bucket, owned by its creator", leaks, async () => {
  await using store = await startStore();
  const base = "/tenants/archive/namespaces";
  const made = await call(store, "archive", "curator", "PUT", base, {
    name: "Scans",
    hardQuota: "10 GB",
    versioningSettings: { enabled: true },
  });
  assert.equal(made.status, 200);
  assert.equal(made.text, "");
  assert.equal((await call(store, "archive", "curator", "PUT", base, { name: "scans" })).status, 409);
  const names = (await call(store, "archive", "curator", "GET", base)).json().name;
  assert.deepEqual(names, ["campaigns", "letters", "maps", "Scans"]);
  const record = (await call(store, "archive", "curator", "GET", `${base}/SCANS?verbose=true`)).json();
  assert.equal(record.hardQuota, "10 GB");
  assert.equal(record.owner, "curator");
  assert.match(record.creationTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+0000$/);
  const client = store.client("archive", "curator");
  const { Buckets } = await client.send(new ListBucketsCommand({}));
  assert.ok(Buckets?.some(({ Name }) => Name === "Scans"));
  const put = await client.send(new PutObjectCommand({ Bucket: "scans", Key: "a", Body: "a" }));
  assert.match(put.VersionId ?? "", /^[0-9]+$/);
  assert.equal((await call(store, "archive", "curator", "DELETE", `${base}/scans`)).status, 409);
});

Deno.test("embedded MAPI: lists are paged, sorted and filtered without case", leaks, async () => {
  await using store = await startStore();
  const list = async (query: string) =>
    (await call(store, "archive", "curator", "GET", `/tenants/archive/namespaces?${query}`)).json().name;
  assert.deepEqual(await list("sortOrder=descending&count=2"), ["maps", "letters"]);
  assert.deepEqual(await list("offset=1&count=1"), ["letters"]);
  assert.deepEqual(await list("filterString=MA"), ["maps"]);
  assert.deepEqual(await list("offset=9"), []);
  assert.equal(
    (await call(store, "archive", "curator", "GET", "/tenants/archive/namespaces?offset=x")).status,
    400,
  );
});

Deno.test("embedded MAPI: user accounts are created, read, used and deleted", leaks, async () => {
  await using store = await startStore();
  const base = "/tenants/archive/userAccounts";
  const path = `${base}/${encodeURIComponent("Åsa")}`;
  const create = (password: string, body: unknown = NEW_USER) =>
    call(store, "archive", "curator", "PUT", `${base}?password=${password}`, body);
  assert.equal((await create("short")).status, 400);
  assert.equal((await create("onlyletters")).status, 400);
  assert.match((await create("passw0rd", { ...NEW_USER, enabled: undefined })).text, /enabled/);
  assert.equal((await create("passw0rd")).status, 200);
  assert.equal((await create("passw0rd")).status, 409);
  const record = (await call(store, "archive", "curator", "GET", `${path}?verbose=true`)).json();
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
  assert.equal((await call(store, "archive", "curator", "DELETE", path)).status, 200);
  assert.equal((await call(store, "archive", "curator", "DELETE", path)).status, 404);
  assert.equal((await call(store, "archive", "curator", "HEAD", path)).status, 302);
  await assert.rejects(own.send(new ListBucketsCommand({})), { name: "SignatureDoesNotMatch" });
});

Deno.test("embedded MAPI: roles and levels decide, and bad credentials are 403", leaks, async () => {
  await using store = await startStore();
  const status = async (...given: Parameters<typeof call> extends [unknown, ...infer Rest] ? Rest : never) =>
    (await call(store, ...given)).status;
  assert.equal(await status("archive", "reader", "GET", "/tenants/archive/namespaces"), 200);
  assert.equal(await status("archive", "reader", "PUT", "/tenants/archive/namespaces", { name: "x" }), 403);
  assert.equal(await status("archive", "reader", "DELETE", "/tenants/archive/userAccounts/curator"), 403);
  assert.equal(await status("archive", "curator", "GET", "/tenants"), 403);
  assert.equal(await status("archive", "curator", "GET", "/tenants/research/namespaces"), 403);
  assert.equal(await status("archive", "curator", "GET", "/tenants/archive", undefined, "wrong"), 403);
  assert.equal(await status("archive", "nobody", "GET", "/tenants/archive"), 403);
  assert.equal(await status("archive", "curator", "POST", "/tenants/archive/namespaces"), 405);
  assert.equal(await status("archive", "curator", "constructor", "/tenants/archive/namespaces"), 405);
  assert.equal(await status("archive", "curator", "GET", "/tenants/archive/nonsense"), 404);
  const anonymous = await fetch(`${store.mapi("archive")}/mapi/tenants/archive`);
  assert.equal(anonymous.status, 403);
  assert.ok(anonymous.headers.get("x-hcp-errormessage"));
  await anonymous.body?.cancel();
});

Deno.test("embedded MAPI: a new tenant has its first user, and ports that work at once", leaks, async () => {
  await using store = await startStore();
  const query = "username=boss&password=passw0rd&forcePasswordChange=false";
  const body = { name: "Museum", hardQuota: "1 TB", softQuota: 80 };
  assert.equal((await call(store, null, "admin", "PUT", `/tenants?${query}`, body)).status, 200);
  assert.equal((await call(store, null, "admin", "PUT", `/tenants?${query}`, { name: "MUSEUM" })).status, 409);
  assert.deepEqual((await call(store, null, "admin", "GET", "/tenants")).json().name, [
    "archive",
    "Museum",
    "research",
  ]);
  assert.equal(
    (await call(store, "museum", "boss", "PUT", "/tenants/museum/namespaces", { name: "first" }, "passw0rd")).status,
    200,
  );
  const boss = store.client("museum", "boss", "passw0rd");
  await boss.send(new PutObjectCommand({ Bucket: "first", Key: "a", Body: "a" }));
  await boss.send(new GetObjectCommand({ Bucket: "first", Key: "a" }));
  // The new tenant has not let the system level in.
  assert.equal((await call(store, null, "admin", "GET", "/tenants/museum/namespaces")).status, 403);
  assert.equal((await call(store, null, "admin", "GET", "/tenants/archive/namespaces")).status, 200);
  assert.equal((await call(store, null, "admin", "DELETE", "/tenants/museum")).status, 409);
});

Deno.test("embedded MAPI: hostile bodies are 400, 409 or 413 and name the member", leaks, async () => {
  await using store = await startStore();
  const put = async (body: unknown) => {
    const answer = await call(store, "archive", "curator", "PUT", "/tenants/archive/namespaces", body);
    return `${answer.status} ${answer.text}`;
  };
  assert.match(await put({ name: "bad_name" }), /^400 .*name/);
  assert.match(await put({ name: "a", softQuota: 5 }), /^400 .*softQuota/);
  assert.match(await put({ name: "a", hardQuota: "lots" }), /^400 .*hardQuota/);
  assert.match(await put({ name: "a", owner: "nobody" }), /^409 .*owner/);
  assert.match(await put({ name: "a", tags: { tag: [1] } }), /^400 .*tags/);
  assert.match(await put([1]), /^400 /);
  assert.match(await put({ name: "a", description: "x".repeat(5 * 1024 * 1024) }), /^413 /);
  const polluted = JSON.parse('{"name":"a","__proto__":{"enterpriseMode":true}}');
  assert.match(await put(polluted), /^200 /);
});
