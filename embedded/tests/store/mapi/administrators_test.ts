import {
  CreateMultipartUploadCommand,
  PutBucketAclCommand,
  PutObjectAclCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { GROUP_URI } from "@/embedded/store/s3/access_lists.ts";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import {
  account,
  archiveMapi,
  callMapi,
  type Login,
  post,
  statusAndText,
} from "@/embedded/tests/store/mapi_fixture.ts";
import { startStore, type Store, storeTest } from "@/embedded/tests/store/store_fixture.ts";

const PASSWORD = "secret-1";
const ADMINISTRATOR = { role: ["ADMINISTRATOR"] };

/** Calls as the account whose only role is SECURITY. */
function guard(store: Store, method: string, path: string, body?: unknown): Promise<string> {
  return as(store, GUARD, method, path, body);
}

async function guarded(store: Store): Promise<void> {
  const guard = account("guard", { roles: { role: ["SECURITY"] } });
  const made = await archiveMapi(store, "PUT", `/userAccounts?password=${PASSWORD}`, guard);
  assert.equal(made.status, 200, made.text);
}

const REFUSED = /^403 .*ADMINISTRATOR/;

storeTest("roles: SECURITY cannot give ADMINISTRATOR to a new account, to itself or to another", async ({ store }) => {
  await guarded(store);
  const make = `/userAccounts?password=${PASSWORD}`;
  assert.match(
    await guard(store, "PUT", make, account("new", { roles: { role: ["MONITOR", "ADMINISTRATOR"] } })),
    REFUSED,
  );
  assert.match(await guard(store, "GET", "/userAccounts/new"), /^404/);
  for (const name of ["guard", "reader"]) {
    assert.match(await guard(store, "POST", `/userAccounts/${name}`, { roles: ADMINISTRATOR }), REFUSED);
    assert.match(
      await guard(store, "POST", `/userAccounts/${name}?password=other-12`, { roles: ADMINISTRATOR }),
      REFUSED,
    );
  }
  assert.match(await guard(store, "POST", "/userAccounts/guard", { description: "the password stays" }), /^200/);
  // Every other role is SECURITY's to give, and an administrator's record can be sent back as it was read.
  assert.match(
    await guard(store, "PUT", make, account("new", { roles: { role: ["SECURITY", "COMPLIANCE"] } })),
    /^200/,
  );
  const { json } = await archiveMapi(store, "GET", "/userAccounts/curator?verbose=true");
  assert.match(await guard(store, "POST", "/userAccounts/curator", { roles: json().roles }), /^200/);
});

storeTest("roles: SECURITY cannot give ADMINISTRATOR by a group", async ({ store }) => {
  await guarded(store);
  assert.match(await guard(store, "PUT", "/groupAccounts", { groupname: "g", roles: ADMINISTRATOR }), REFUSED);
  assert.match(await guard(store, "PUT", "/groupAccounts", { groupname: "staff" }), /^200/);
  assert.match(await guard(store, "POST", "/groupAccounts/staff", { roles: ADMINISTRATOR }), REFUSED);

  const chiefs = { groupname: "chiefs", roles: ADMINISTRATOR, members: { username: ["curator", "reader"] } };
  assert.equal((await archiveMapi(store, "PUT", "/groupAccounts", chiefs)).status, 200);
  const members = (...username: string[]) =>
    guard(store, "POST", "/groupAccounts/chiefs", { members: { username }, description: "x" });
  assert.match(await members("curator", "reader", "Guard"), REFUSED);
  assert.match(await members("guard"), REFUSED);
  assert.match(await members("CURATOR", "reader"), /^200/);
  assert.match(await members("curator"), /^200/);
  // Who was taken out is not put back by who took him out.
  assert.match(await members("curator", "reader"), REFUSED);
  assert.match(
    await guard(store, "POST", "/groupAccounts/chiefs", { roles: { role: [] }, members: { username: ["guard"] } }),
    /^200/,
  );
  assert.match(await guard(store, "POST", "/groupAccounts/chiefs", { roles: ADMINISTRATOR }), REFUSED);
});

const LAST = /^409 .*last enabled ADMINISTRATOR/;
const CURATOR = ["curator", SAMPLE_PASSWORD] as const;
const GUARD = ["guard", PASSWORD] as const;

/** Calls the management API of the tenant archive, at its level or the system's (`admin`). */
function as(store: Store, login: Login, method: string, path: string, body?: unknown): Promise<string> {
  const level = login[0] === "admin" ? null : "archive";
  return statusAndText(callMapi(store, level, login, method, `/tenants/archive${path}`, body));
}

storeTest("last administrator: nobody deletes, disables or demotes it", async ({ store }) => {
  await guarded(store);
  const curator = "/userAccounts/curator";
  for (const caller of [GUARD, CURATOR]) {
    assert.match(await as(store, caller, "DELETE", curator), LAST);
    assert.match(await as(store, caller, "POST", curator, { enabled: false }), LAST);
    assert.match(await as(store, caller, "POST", curator, { roles: { role: [] } }), LAST);
    assert.match(await as(store, caller, "POST", curator, { roles: { role: ["SECURITY", "MONITOR"] } }), LAST);
  }
  // Neither a disabled administrator nor one without a password takes its place.
  const put = (username: string, more: Record<string, unknown>) =>
    as(
      store,
      CURATOR,
      "PUT",
      `/userAccounts?password=${PASSWORD}`,
      account(username, { roles: ADMINISTRATOR, ...more }),
    );
  assert.match(await put("off", { enabled: false }), /^200/);
  assert.match(await put("remote", { localAuthentication: false }), /^200/);
  assert.match(await as(store, CURATOR, "POST", curator, { enabled: false }), LAST);
  // Nothing of a rejected change remains.
  const { json } = await archiveMapi(store, "GET", `${curator}?verbose=true`);
  assert.equal(json().enabled, true);
  assert.ok(json().roles.role.includes("ADMINISTRATOR"));
  assert.match(await as(store, CURATOR, "POST", "/userAccounts/off", { enabled: true }), /^200/);
  assert.match(await as(store, GUARD, "DELETE", curator), /^200/);
  assert.match(await as(store, GUARD, "DELETE", "/userAccounts/OFF"), LAST);
});

storeTest("last administrator: nor is it demoted by its group", async ({ store }) => {
  await guarded(store);
  const chiefs = { groupname: "chiefs", roles: ADMINISTRATOR, members: { username: ["reader"] } };
  assert.match(await as(store, CURATOR, "PUT", "/groupAccounts", chiefs), /^200/);
  assert.match(await as(store, CURATOR, "POST", "/userAccounts/curator", { roles: { role: [] } }), /^200/);
  for (const caller of [GUARD, ["reader", SAMPLE_PASSWORD] as const]) {
    assert.match(await as(store, caller, "DELETE", "/groupAccounts/chiefs"), LAST);
    assert.match(await as(store, caller, "POST", "/groupAccounts/chiefs", { roles: { role: ["MONITOR"] } }), LAST);
    assert.match(await as(store, caller, "POST", "/groupAccounts/chiefs", { members: { username: [] } }), LAST);
    assert.match(await as(store, caller, "POST", "/userAccounts/reader", { enabled: false }), LAST);
    assert.match(await as(store, caller, "DELETE", "/userAccounts/reader"), LAST);
  }
  assert.match(await as(store, GUARD, "POST", "/groupAccounts/chiefs", { description: "x" }), /^200/);
});

storeTest("last administrator: two that demote each other at once do not both succeed", async ({ store }) => {
  await guarded(store);
  for (let round = 0; round < 5; round++) {
    for (const name of ["curator", "guard"]) {
      const caller = round % 2 === 0 ? CURATOR : GUARD;
      assert.match(await as(store, caller, "POST", `/userAccounts/${name}`, { roles: ADMINISTRATOR }), /^200/);
    }
    const demoted = { roles: { role: [] } };
    const results = await Promise.all([
      as(store, CURATOR, "POST", "/userAccounts/guard", demoted),
      as(store, GUARD, "POST", "/userAccounts/curator", demoted),
    ]);
    assert.equal(results.filter((one) => one.startsWith("200")).length, 1, results.join("\n"));
    const winner = results[0].startsWith("200") ? CURATOR : GUARD;
    const loser = winner === CURATOR ? "guard" : "curator";
    assert.match(await as(store, winner, "POST", `/userAccounts/${loser}`, { roles: ADMINISTRATOR }), /^200/);
  }
});

Deno.test("recovery: the system level gives an administrator to a tenant that has none", async () => {
  const ADMIN = ["admin", SAMPLE_PASSWORD] as const;
  const store = await startStore();
  await guarded(store);
  assert.match(await as(store, CURATOR, "POST", "", { administrationAllowed: false }), /^200/);
  const make = `/userAccounts?password=${PASSWORD}`;
  const rescue = account("rescue", { roles: { role: ["ADMINISTRATOR", "SECURITY"] } });
  // While there is one, the tenant decides who comes in.
  assert.match(await as(store, ADMIN, "PUT", make, rescue), /^403/);
  assert.match(await as(store, ADMIN, "POST", "/userAccounts/absent", { enabled: true }), /^403/);
  await store.stop();
  // A folder of an older version, which let the last one be removed.
  const index = new DatabaseSync(`${store.folder}/index.db`);
  index.exec("UPDATE users SET record = json_set(record, '$.enabled', json('false')) WHERE name = 'curator'");
  index.close();
  await using again = await startStore(store.folder);
  const by = (method: string, path: string, body?: unknown) => as(again, ADMIN, method, path, body);
  for (
    const [method, path, body] of [
      ["PUT", make, account("rescue", { roles: { role: ["SECURITY"] } })],
      ["PUT", make, { ...rescue, enabled: false }],
      ["PUT", make, { ...rescue, localAuthentication: false }],
      ["POST", "/userAccounts/reader", { enabled: true }],
      ["POST", "/userAccounts/curator", { description: "x" }],
      ["POST", "/userAccounts/curator/changePassword", { newPassword: PASSWORD }],
      ["POST", "/userAccounts?resetPasswords=secret-2", {}],
      ["DELETE", "/userAccounts/reader"],
      ["GET", "/userAccounts"],
      ["PUT", "/groupAccounts", { groupname: "g", roles: ADMINISTRATOR }],
      ["POST", "/consoleSecurity", { minimumPasswordLength: 8 }],
    ] as const
  ) assert.match(await by(method, path, body), /^403/, `${method} ${path}`);
  // SECURITY is not enough at the tenant's level.
  assert.match(await as(again, GUARD, "POST", "/userAccounts/guard", { roles: ADMINISTRATOR }), REFUSED);
  assert.match(await by("PUT", make, rescue), /^200/);
  assert.match(await by("PUT", make, { ...rescue, username: "second" }), /^403/);
  assert.match(await by("POST", "/userAccounts/curator", { enabled: true }), /^403/);
  const made = again.reported.findLast(({ action }) => action === "account_create");
  assert.deepEqual([made?.actor, made?.target.name, made?.details], [
    { name: "admin", tenant: null },
    "rescue",
    { roles: "ADMINISTRATOR, SECURITY", recovery: true },
  ]);
});

Deno.test("recovery: the system level restores an account of a tenant without an administrator", async () => {
  const store = await startStore();
  const tenants = `/tenants?username=chief&password=${PASSWORD}`;
  assert.equal((await callMapi(store, null, "admin", "PUT", tenants, { name: "closed" })).status, 200);
  await store.stop();
  const index = new DatabaseSync(`${store.folder}/index.db`);
  index.exec("UPDATE users SET record = json_set(record, '$.roles.role', json('[\"SECURITY\"]')) WHERE name = 'chief'");
  index.close();
  await using again = await startStore(store.folder);
  const chief = "/tenants/closed/userAccounts/chief?password=secret-22";
  const restore = () => statusAndText(callMapi(again, null, "admin", "POST", chief, { roles: ADMINISTRATOR }));
  assert.match(await restore(), /^200/);
  assert.match(await restore(), /^403/);
  const inside = await callMapi(again, "closed", ["chief", "secret-22"], "GET", "/tenants/closed/userAccounts");
  assert.equal(inside.status, 200, inside.text);
});

storeTest("roles: SECURITY adds nobody to a group that gives access to data", async ({ store }) => {
  await guarded(store);
  const owner = store.client("archive", "curator");
  const grantTo = (group: string) => `uri="${GROUP_URI}${group}"`;
  const at = { Bucket: "maps", Key: "listed" };
  await owner.send(new PutObjectCommand({ ...at, Body: "x" }));
  const grants: Record<string, () => Promise<unknown>> = {
    granted: () =>
      archiveMapi(store, "POST", "/groupAccounts/granted/dataAccessPermissions", {
        namespacePermission: [{ namespaceName: "letters", permissions: { permission: ["READ"] } }],
      }),
    bucket_list: () => owner.send(new PutBucketAclCommand({ Bucket: "letters", GrantRead: grantTo("bucket_list") })),
    object_list: () => owner.send(new PutObjectAclCommand({ ...at, GrantRead: grantTo("object_list") })),
    old_version: async () => {
      await owner.send(new PutObjectCommand({ ...at, Key: "old", Body: "x", GrantRead: grantTo("old_version") }));
      await owner.send(new PutObjectCommand({ ...at, Key: "old", Body: "y" }));
    },
    upload: () => owner.send(new CreateMultipartUploadCommand({ ...at, Key: "parts", GrantRead: grantTo("upload") })),
  };
  for (const [groupname, give] of Object.entries(grants)) {
    const group = `/groupAccounts/${groupname}`;
    assert.match(await guard(store, "PUT", "/groupAccounts", { groupname }), /^200/);
    const add = (...username: string[]) => guard(store, "POST", group, { members: { username } });
    assert.match(await add("reader"), /^200/);
    await give();
    assert.match(await add("reader", "guard"), /^403 .*access to data/, groupname);
    assert.match(await add("guard"), /^403 .*access to data/);
    assert.match(await add("READER"), /^200/);
    assert.match(await guard(store, "POST", group, { description: "d", roles: { role: ["MONITOR"] } }), /^200/);
    assert.match(await add(), /^200/);
    await post(store, group, { members: { username: ["guard"] } });
  }
});

storeTest("roles: SECURITY sets no password of an account with ADMINISTRATOR", async ({ store }) => {
  await guarded(store);
  const NEW = "another-12";
  const refused = /^403 .*password.*ADMINISTRATOR|^403 .*ADMINISTRATOR.*password/;
  const chiefs = { groupname: "chiefs", roles: ADMINISTRATOR, members: { username: ["reader"] } };
  assert.equal((await archiveMapi(store, "PUT", "/groupAccounts", chiefs)).status, 200);
  for (const name of ["curator", "CURATOR", "reader"]) {
    const one = `/userAccounts/${name}`;
    assert.match(await guard(store, "POST", `${one}/changePassword`, { newPassword: NEW }), refused);
    assert.match(await guard(store, "POST", `${one}?password=${NEW}`, {}), refused);
    assert.match(await guard(store, "POST", `${one}?password=${NEW}`, { roles: { role: [] } }), refused);
  }
  // The curator has both roles: none of the passwords is reset.
  assert.match(await guard(store, "POST", `/userAccounts?resetPasswords=${NEW}`, {}), refused);
  assert.match(await guard(store, "GET", "/userAccounts/guard"), /^200/);
  const add = account("plain", { roles: { role: ["MONITOR"] } });
  assert.match(await guard(store, "PUT", `/userAccounts?password=${PASSWORD}`, add), /^200/);
  assert.match(await guard(store, "POST", "/userAccounts/plain/changePassword", { newPassword: NEW }), /^200/);
  assert.match(await guard(store, "POST", `/userAccounts/plain?password=${PASSWORD}`, {}), /^200/);
  // Every account changes its own, and an administrator everybody's.
  const reset = await as(store, CURATOR, "POST", "/userAccounts/reader/changePassword", { newPassword: NEW });
  assert.match(reset, /^200/);
  const own = await as(store, ["reader", NEW], "POST", "/userAccounts/reader/changePassword", {
    oldPassword: NEW,
    newPassword: PASSWORD,
  });
  assert.match(own, /^200/);
});
