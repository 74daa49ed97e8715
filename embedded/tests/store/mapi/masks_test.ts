import assert from "node:assert/strict";
import {
  CopyObjectCommand,
  CreateBucketCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import { account, archiveMapi, errorOf, namespace, post } from "@/embedded/tests/store/mapi_fixture.ts";
import { storeTest } from "@/embedded/tests/store/store_fixture.ts";
import { anonymous } from "@/embedded/tests/store/acl_fixture.ts";

storeTest("masks: a permission that tenant or namespace does not allow is denied despite grants", async ({ store }) => {
  const curator = await namespace(store, "masked", {});
  const at = { Bucket: "masked", Key: "a" };
  const put = () => errorOf(curator.send(new PutObjectCommand({ ...at, Body: "a" })));
  const get = () => errorOf(curator.send(new GetObjectCommand(at)));
  const remove = () => errorOf(curator.send(new DeleteObjectCommand(at)));
  const set = (path: string, document: unknown) => post(store, path, document);
  assert.equal(await put(), "ok");
  const all = ["DELETE", "PRIVILEGED", "PURGE", "READ", "SEARCH", "WRITE"];
  assert.deepEqual((await archiveMapi(store, "GET", "/permissions")).json(), { permission: all });
  await set("/namespaces/masked/permissions", { permission: ["READ"] });
  assert.deepEqual([await put(), await get(), await remove()], ["403 AccessDenied", "ok", "403 AccessDenied"]);
  await set("/permissions", { permission: ["WRITE"] });
  assert.deepEqual([await put(), await get()], ["403 AccessDenied", "403 AccessDenied"]);
  assert.equal(await errorOf(curator.send(new ListObjectsV2Command({ Bucket: "masked" }))), "403 AccessDenied");
  await set("/namespaces/masked/permissions", { permission: all });
  assert.deepEqual([await put(), await get()], ["ok", "403 AccessDenied"]);
  await set("/permissions", { permission: all, readAllowed: false });
  assert.deepEqual([await get(), await remove()], ["403 AccessDenied", "ok"]);
  await set("/permissions", { readAllowed: true });
  assert.equal(await put(), "ok");
  assert.equal(await get(), "ok");
  const wrong = await archiveMapi(store, "POST", "/permissions", { permission: ["read"] });
  assert.deepEqual([wrong.status, /permission/.test(wrong.text)], [400, true]);
});

storeTest("masks: they also limit grants of an access list", async ({ store }) => {
  const curator = await namespace(store, "shown", {});
  await curator.send(new PutObjectCommand({ Bucket: "shown", Key: "a", Body: "a", ACL: "public-read" }));
  const anybody = async () => (await anonymous(store, "GET", "/shown/a")).status;
  assert.equal(await anybody(), 200);
  await archiveMapi(store, "POST", "/namespaces/shown/permissions", { permission: ["WRITE"] });
  assert.equal(await anybody(), 403);
});

storeTest("protocols: S3 of a namespace is switched off, or limited to signed requests", async ({ store }) => {
  const curator = await namespace(store, "off", {});
  const at = { Bucket: "off", Key: "a" };
  await curator.send(new PutObjectCommand({ ...at, Body: "a", ACL: "public-read" }));
  const signed = () => errorOf(curator.send(new GetObjectCommand(at)));
  const anybody = async () => (await anonymous(store, "GET", "/off/a")).status;
  const set = (document: unknown) => archiveMapi(store, "POST", "/namespaces/off/protocols/http", document);
  assert.deepEqual([await signed(), await anybody()], ["ok", 200]);
  assert.equal((await set({ hs3RequiresAuthentication: true })).status, 200);
  assert.deepEqual([await signed(), await anybody()], ["ok", 403]);
  assert.equal((await set({ hs3Enabled: false })).status, 200);
  assert.deepEqual([await signed(), await anybody()], ["403 AccessDenied", 403]);
  assert.equal(await errorOf(curator.send(new PutObjectCommand({ ...at, Body: "b" }))), "403 AccessDenied");
  const { hs3Enabled, ipSettings } = (await archiveMapi(store, "GET", "/namespaces/off/protocols/http")).json();
  assert.deepEqual([hs3Enabled, ipSettings.allowAddresses], [false, { ipAddress: ["0.0.0.0/0"] }]);
  assert.equal((await set({ hs3Enabled: true, hs3RequiresAuthentication: false })).status, 200);
  assert.deepEqual([await signed(), await anybody()], ["ok", 200]);
  assert.match((await set({ ipSettings: { allowAddresses: ["10.0.0.0/40"] } })).text, /allowAddresses/);
});

storeTest("protocols: http limits the client addresses of a namespace's S3, signed or not", async ({ store }) => {
  const curator = await namespace(store, "walled", {});
  const at = { Bucket: "walled", Key: "a" };
  await curator.send(new PutObjectCommand({ ...at, Body: "a", ACL: "public-read" }));
  await namespace(store, "open", {});
  const set = (ipSettings: unknown) => post(store, "/namespaces/walled/protocols/http", { ipSettings });
  const answers = async () => {
    const anybody = await anonymous(store, "GET", "/walled/a");
    const copy = new CopyObjectCommand({ Bucket: "open", Key: "b", CopySource: "walled/a" });
    return [await errorOf(curator.send(new GetObjectCommand(at))), anybody.status, await errorOf(curator.send(copy))];
  };
  const may = ["ok", 200, "ok"];
  const mayNot = ["403 AccessDenied", 403, "403 AccessDenied"];
  await set({ denyAddresses: { ipAddress: ["10.0.0.0/8"] }, allowIfInBothLists: false });
  assert.deepEqual(await answers(), may);
  await set({ denyAddresses: { ipAddress: ["127.0.0.0/8"] } });
  assert.deepEqual(await answers(), mayNot);
  assert.equal(await errorOf(curator.send(new HeadObjectCommand(at))), "403 Unknown");
  const again = (more: object) => errorOf(curator.send(new CreateBucketCommand({ Bucket: "walled", ...more })));
  assert.deepEqual([await again({}), await again({ ACL: "public-read" })], ["ok", "403 AccessDenied"]);
  assert.equal(await errorOf(curator.send(new GetObjectCommand({ Bucket: "open", Key: "b" }))), "ok");
  await set({ allowAddresses: { ipAddress: ["10.0.0.1"] }, denyAddresses: { ipAddress: [] } });
  assert.deepEqual(await answers(), mayNot);
  await set({ allowAddresses: { ipAddress: ["10.0.0.1, 127.0.0.1"] } });
  assert.deepEqual(await answers(), may);
});

storeTest("tenants: no user owns more namespaces than maxNamespacesPerUser", async ({ store }) => {
  const user = account("maker", { allowNamespaceManagement: true });
  assert.equal((await archiveMapi(store, "PUT", "/userAccounts?password=maker-12", user)).status, 200);
  assert.equal((await archiveMapi(store, "POST", "", { maxNamespacesPerUser: 2 })).status, 200);
  const maker = store.client("archive", "maker", "maker-12");
  await maker.send(new CreateBucketCommand({ Bucket: "one" }));
  const made = await archiveMapi(store, "PUT", "/namespaces", { name: "two" }, ["maker", "maker-12"]);
  assert.equal(made.status, 200);
  assert.equal(await errorOf(maker.send(new CreateBucketCommand({ Bucket: "three" }))), "400 InvalidRequest");
  const given = await archiveMapi(store, "POST", "/namespaces/letters", { owner: "maker" });
  assert.deepEqual([given.status, /maxNamespacesPerUser/.test(given.text)], [400, true]);
  // What the maker has already may be said again, and an administrator's own are not counted.
  assert.equal((await archiveMapi(store, "POST", "/namespaces/one", { owner: "maker" })).status, 200);
  assert.equal((await archiveMapi(store, "PUT", "/namespaces", { name: "three" })).status, 200);
  assert.equal((await archiveMapi(store, "PUT", "/namespaces", { name: "four", owner: "maker" })).status, 400);
});
