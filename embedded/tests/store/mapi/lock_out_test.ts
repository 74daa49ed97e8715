import { AwsClient } from "aws4fetch";
import assert from "node:assert/strict";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { account, archiveMapi, callMapi, type Login, s3Login } from "@/embedded/tests/store/mapi_fixture.ts";
import { mapiAuthorization, s3Keys, type Store, storeTest } from "@/embedded/tests/store/store_fixture.ts";

const CONVERTER_PASSWORD = "converter-password";

/** The status of a request to the management API at a level (null: the system's). */
async function mapi(store: Store, level: string | null, path: string, login: Login, body?: unknown): Promise<number> {
  return (await callMapi(store, level, login, body === undefined ? "GET" : "POST", `/tenants${path}`, body)).status;
}

storeTest("lock-out: wrong passwords by either protocol lock no account, by default", async ({ store }) => {
  const guesses = Array.from({ length: 6 }, async (_, n) => {
    const wrong = `wrong-${n}`;
    assert.equal(await mapi(store, "archive", "/archive", ["reader", wrong]), 403);
    assert.equal(await mapi(store, "archive", "/archive", ["converter", wrong]), 403);
    assert.equal(await mapi(store, null, "", ["admin", wrong]), 403);
    assert.equal(await s3Login(store, "reader", wrong), "403 SignatureDoesNotMatch");
  });
  await Promise.all(guesses);
  assert.equal(await mapi(store, null, "", ["admin", SAMPLE_PASSWORD]), 200);
  assert.equal(await mapi(store, "archive", "/archive/statistics", ["reader", SAMPLE_PASSWORD]), 200);
  assert.equal(await s3Login(store, "reader", SAMPLE_PASSWORD), "ok");
  assert.equal(await s3Login(store, "converter", CONVERTER_PASSWORD), "ok");
});

storeTest("lock-out: a configured lock spares the converter and the last administrator", async ({ store }) => {
  const curator = ["curator", SAMPLE_PASSWORD] as const;
  const users = "/archive/userAccounts";
  const rules = { disableAfterAttempts: 1, automaticUserAccountUnlockSetting: false };
  assert.equal(await mapi(store, "archive", "/archive/consoleSecurity", curator, rules), 200);
  const wrong = async (user: string) => {
    assert.equal(await mapi(store, "archive", "/archive", [user, "wrong-1"]), 403);
  };
  for (const user of ["reader", "converter", "curator"]) await wrong(user);
  assert.equal(await s3Login(store, "reader", SAMPLE_PASSWORD), "403 InvalidAccessKeyId");
  assert.equal(await s3Login(store, "converter", CONVERTER_PASSWORD), "ok");
  assert.equal(await mapi(store, "archive", users, curator), 200);

  // Beside another administrator, it is locked like anybody; the other one is now the last, until it is gone itself.
  const roles = { role: ["ADMINISTRATOR"] };
  assert.equal(await mapi(store, "archive", `${users}/reader`, curator, { enabled: true, roles }), 200);
  await wrong("curator");
  await wrong("reader");
  assert.equal(await mapi(store, "archive", users, curator), 403);
  const reader = ["reader", SAMPLE_PASSWORD] as const;
  assert.equal(await mapi(store, "archive", users, reader), 200);
  assert.equal(await mapi(store, "archive", `${users}/reader`, reader, { enabled: false }), 200);
  assert.equal(await mapi(store, "archive", users, curator), 200);
});

storeTest("lock-out: an administrator by group counts, a disabled one or without password not", async ({ store }) => {
  const curator = ["curator", SAMPLE_PASSWORD] as const;
  const put = async (path: string, body: unknown) =>
    assert.equal((await archiveMapi(store, "PUT", path, body)).status, 200);
  const lock = { disableAfterAttempts: 1, automaticUserAccountUnlockSetting: false };
  assert.equal(await mapi(store, "archive", "/archive/consoleSecurity", curator, lock), 200);
  const roles = { role: ["ADMINISTRATOR", "SECURITY"] };
  await put("/userAccounts?password=remote-1", account("remote", { localAuthentication: false, roles }));
  await put("/userAccounts?password=off-line-1", account("off", { enabled: false, roles }));
  await mapi(store, "archive", "/archive", ["curator", "wrong-1"]);
  assert.equal(await mapi(store, "archive", "/archive/userAccounts", curator), 200);
  await put("/groupAccounts", {
    groupname: "admins",
    externalGroupID: "admins",
    roles,
    members: { username: ["reader"] },
  });
  await mapi(store, "archive", "/archive", ["curator", "wrong-1"]);
  assert.equal(await mapi(store, "archive", "/archive/userAccounts", curator), 403);
  assert.equal(await mapi(store, "archive", "/archive/userAccounts", ["reader", SAMPLE_PASSWORD]), 200);
});

/** All that a refusal says, without what is new in each. */
async function said(response: Response): Promise<unknown> {
  const headers = Object.fromEntries(response.headers);
  delete headers.date;
  for (const name of ["x-amz-request-id", "x-request-id"]) delete headers[name];
  const text = (await response.text()).replace(/<RequestId>[^<]*/, "");
  return { status: response.status, headers, text };
}

storeTest("failed logins: absent users, disabled ones and wrong passwords look alike", async ({ store }) => {
  const curator = ["curator", SAMPLE_PASSWORD] as const;
  assert.equal(await mapi(store, "archive", "/archive/userAccounts/reader", curator, { enabled: false }), 200);
  const wrong = ["nobody", "reader", "converter", "åsa", "a".repeat(64)].map((user) => [user, "wrong-1"] as const);
  const by = {
    s3: (user: string, password: string) => {
      const { accessKeyId, secretAccessKey } = s3Keys(user, password);
      const signed = new AwsClient({ accessKeyId, secretAccessKey, service: "s3", region: "us-east-1", retries: 0 });
      return signed.fetch(`${store.s3("archive")}/campaigns`);
    },
    native: (user: string, password: string) =>
      fetch(`${store.mapi("archive")}/mapi/tenants/archive/userAccounts`, {
        headers: mapiAuthorization(user, password),
      }),
    ad: (user: string, password: string) => {
      const bytes = new TextEncoder().encode(`AD ${user}:${password}`);
      const authorization = String.fromCharCode(...bytes);
      return fetch(`${store.mapi("archive")}/mapi/tenants/archive/userAccounts`, { headers: { authorization } });
    },
    system: (user: string, password: string) =>
      fetch(`${store.mapi(null)}/mapi/tenants`, {
        headers: mapiAuthorization(user === "reader" ? "admin" : user, password),
      }),
  };
  for (const [protocol, call] of Object.entries(by)) {
    const answers = await Promise.all(wrong.map(async (login) => await said(await call(...login))));
    for (const answer of answers) assert.deepEqual(answer, answers[0], protocol);
    assert.equal((answers[0] as { status: number }).status, 403);
  }
});
