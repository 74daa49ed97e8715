import assert from "node:assert/strict";
import { archiveMapi, leaks, type Store } from "@/tests/embedded/store/mapi_fixture.ts";
import { mapiAuthorization, startStore } from "@/tests/embedded/store/store_fixture.ts";

const PASSWORD = "secret-1";
const ADMINISTRATOR = { role: ["ADMINISTRATOR"] };

/** Calls as the account whose only role is SECURITY; tells status and sentence. */
async function guard(store: Store, method: string, path: string, body?: unknown): Promise<string> {
  const response = await fetch(`${store.mapi("archive")}/mapi/tenants/archive${path}`, {
    method,
    headers: mapiAuthorization("guard", PASSWORD),
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return `${response.status} ${await response.text()}`;
}

function account(username: string, roles: unknown) {
  return { username, fullName: "n", localAuthentication: true, enabled: true, forcePasswordChange: false, roles };
}

async function guarded(store: Store): Promise<void> {
  const made = await archiveMapi(
    store,
    "PUT",
    `/userAccounts?password=${PASSWORD}`,
    account("guard", { role: ["SECURITY"] }),
  );
  assert.equal(made.status, 200, made.text);
}

const REFUSED = /^403 .*ADMINISTRATOR/;

Deno.test(
  "roles: SECURITY cannot give ADMINISTRATOR to a new account, to itself or to another",
  leaks,
  async () => {
    await using store = await startStore();
    await guarded(store);
    const make = `/userAccounts?password=${PASSWORD}`;
    assert.match(await guard(store, "PUT", make, account("new", { role: ["MONITOR", "ADMINISTRATOR"] })), REFUSED);
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
    assert.match(await guard(store, "PUT", make, account("new", { role: ["SECURITY", "COMPLIANCE"] })), /^200/);
    const { json } = await archiveMapi(store, "GET", "/userAccounts/curator?verbose=true");
    assert.match(await guard(store, "POST", "/userAccounts/curator", { roles: json().roles }), /^200/);
  },
);

Deno.test("roles: SECURITY cannot give ADMINISTRATOR by a group", leaks, async () => {
  await using store = await startStore();
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

Deno.test("roles: an ADMINISTRATOR can give ADMINISTRATOR", leaks, async () => {
  await using store = await startStore();
  await guarded(store);
  assert.equal((await archiveMapi(store, "POST", "/userAccounts/guard", { roles: ADMINISTRATOR })).status, 200);
  assert.match(await guard(store, "POST", "/userAccounts/reader", { roles: ADMINISTRATOR }), /^200/);
});
