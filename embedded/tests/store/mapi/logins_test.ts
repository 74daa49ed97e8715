import assert from "node:assert/strict";
import { account, archiveMapi, post, s3Login, statusAndText } from "@/embedded/tests/store/mapi_fixture.ts";
import { startStore, type Store, storeTest } from "@/embedded/tests/store/store_fixture.ts";

const USERS = "/userAccounts";

async function addUser(store: Store, record: Record<string, unknown> = {}, password = "first-1"): Promise<void> {
  const made = await archiveMapi(store, "PUT", `${USERS}?password=${password}`, account("lena", record));
  assert.equal(made.status, 200, made.text);
}

storeTest("passwords: the tenant's rules decide, and each error names the rule", async ({ store }) => {
  await addUser(store);
  const rules = (document: Record<string, unknown>) => post(store, "/consoleSecurity", document);
  const change = (newPassword: string) =>
    statusAndText(archiveMapi(store, "POST", `${USERS}/lena/changePassword`, { newPassword }));
  assert.match(await change("abc12"), /^400 .*newPassword must have 6 to 64/);
  assert.match(await change("abcdefgh"), /^400 .*at least two/);
  assert.match(await change("x1".repeat(33)), /^400 .*6 to 64/);
  await rules({ minimumPasswordLength: 10 });
  assert.match(await change("abc123def"), /^400 .*10 to 64/);
  assert.match(await change("abc123defg"), /^200/);
  await rules({
    minimumPasswordLength: 6,
    passwordCombination: true,
    upperCaseLetterCount: 2,
    specialCharacterCount: 0,
  });
  assert.match(await change("Abc123"), /^400 .*2 upper-case/);
  assert.match(await change("ABCDE1"), /^400 .*1 lower-case/);
  assert.match(await change("ABcdef1"), /^200/);
  await rules({ passwordCombination: false, passwordContainsUsername: false, blockCommonPassword: true });
  assert.match(await change("my-LENA-1"), /^400 .*user name/);
  assert.match(await change("Passw0rd"), /^400 .*common/);
  await rules({ blockPasswordReUse: true, passwordReuseDepth: 2 });
  assert.match(await change("ABcdef1"), /^400 .*last 2/);
  assert.match(await change("abc123defg"), /^400 .*last 2/);
  assert.match(await change("another-1"), /^200/);
  assert.match(await change("abc123defg"), /^200/);
  assert.equal((await archiveMapi(store, "PUT", `${USERS}?password=Passw0rd`, account("b"))).status, 400);
});

storeTest("passwords: users need the old one for a change, administrators none; S3 keys follow", async ({ store }) => {
  await addUser(store);
  const own = (body: unknown, password: string) =>
    archiveMapi(store, "POST", `${USERS}/lena/changePassword`, body, ["lena", password]);
  assert.equal((await own({ newPassword: "second-2" }, "first-1")).status, 403);
  assert.equal((await own({ newPassword: "second-2", oldPassword: "wrong-1" }, "first-1")).status, 403);
  assert.equal((await own({ oldPassword: "first-1" }, "first-1")).status, 400);
  assert.equal((await own({ newPassword: "second-2", oldPassword: "first-1" }, "first-1")).status, 200);
  assert.equal(await s3Login(store, "lena", "first-1"), "403 SignatureDoesNotMatch");
  assert.equal(await s3Login(store, "lena", "second-2"), "ok");
  assert.equal((await own({ newPassword: "x-12345", oldPassword: "first-1" }, "first-1")).status, 403);

  const others = await archiveMapi(store, "POST", `${USERS}/curator/changePassword`, { newPassword: "stolen-1" }, [
    "lena",
    "second-2",
  ]);
  assert.equal(others.status, 403);
  await post(store, `${USERS}/lena/changePassword`, { newPassword: "third-3" });
  assert.equal(await s3Login(store, "lena", "third-3"), "ok");
  await post(store, `${USERS}/lena?password=fourth-4`, { fullName: "Lena G" });
  assert.equal(await s3Login(store, "lena", "fourth-4"), "ok");
  assert.match((await archiveMapi(store, "GET", `${USERS}/lena`)).text, /Lena G/);
  assert.equal(
    (await archiveMapi(store, "POST", `${USERS}/nobody/changePassword`, { newPassword: "third-3" })).status,
    404,
  );

  assert.equal((await archiveMapi(store, "POST", `${USERS}?resetPasswords=reset-99`, {})).status, 200);
  assert.equal(await s3Login(store, "curator", "reset-99"), "ok");
  // Without the role SECURITY, lena keeps hers.
  assert.equal(await s3Login(store, "lena", "fourth-4"), "ok");
  assert.equal((await archiveMapi(store, "POST", USERS, {}, ["curator", "reset-99"])).status, 400);
});

storeTest("logins: who must change the password may do nothing else by the management API", async ({ store }) => {
  await addUser(store, { forcePasswordChange: true, roles: { role: ["ADMINISTRATOR"] } });
  const lena = (method: string, path: string, body?: unknown, password = "first-1") =>
    statusAndText(archiveMapi(store, method, path, body, ["lena", password]));
  const own = `${USERS}/lena/changePassword`;
  for (
    const [method, path, body] of [
      ["GET", USERS],
      ["GET", `${USERS}/lena`],
      ["HEAD", "/namespaces/letters"],
      ["GET", "/nowhere"],
      ["PUT", "/namespaces", { name: "n" }],
      ["POST", `${USERS}/curator/changePassword`, { newPassword: "second-2" }],
      ["POST", `${USERS}/lena`, { forcePasswordChange: false }],
    ] as const
  ) {
    const refused = await lena(method, path, body);
    assert.match(refused, method === "HEAD" ? /^403 $/ : /^403 .*must be changed first/, `${method} ${path}`);
  }
  assert.equal(await s3Login(store, "lena", "first-1"), "ok");

  // What an administrator sets is not yet the user's own; nor is the old password a new one.
  assert.equal((await archiveMapi(store, "POST", own, { newPassword: "second-2" })).status, 200);
  assert.match(await lena("GET", USERS, undefined, "second-2"), /must be changed first/);
  const change = (newPassword: string) =>
    lena("POST", own.replace("lena", "LENA"), { oldPassword: "second-2", newPassword }, "second-2");
  assert.match(await change("second-2"), /^400 .*newPassword/);
  assert.match(await change("third-3"), /^200/);
  assert.match(await lena("GET", USERS, undefined, "third-3"), /^200/);
  assert.match((await archiveMapi(store, "GET", `${USERS}/lena`)).text, /"forcePasswordChange":false/);
});

Deno.test("logins: wrong passwords lock an account for both protocols until it is unlocked", async () => {
  const store = await startStore();
  await addUser(store, { roles: { role: ["MONITOR"] } });
  const rules = { disableAfterAttempts: 3, automaticUserAccountUnlockSetting: false };
  await post(store, "/consoleSecurity", rules);
  const mapi = async (password: string) =>
    (await archiveMapi(store, "GET", USERS, undefined, ["lena", password])).status;
  const isEnabled = async () => JSON.parse((await archiveMapi(store, "GET", `${USERS}/lena`)).text).enabled;

  // A right one in between begins the count anew.
  assert.deepEqual([await mapi("wrong-1"), await mapi("wrong-2"), await mapi("first-1")], [403, 403, 200]);
  assert.deepEqual([await mapi("wrong-1"), await mapi("wrong-2")], [403, 403]);
  // Wrong signatures are refused and not counted: access keys are in every presigned URL.
  for (let i = 0; i < 3; i++) assert.equal(await s3Login(store, "lena", `wrong-${i}`), "403 SignatureDoesNotMatch");
  assert.equal(await isEnabled(), true);
  assert.equal(await mapi("wrong-3"), 403);
  assert.equal(await isEnabled(), false);
  assert.equal(await mapi("first-1"), 403);
  assert.equal(await s3Login(store, "lena", "first-1"), "403 InvalidAccessKeyId");

  await store.stop();
  await using again = await startStore(store.folder);
  assert.equal(await s3Login(again, "lena", "first-1"), "403 InvalidAccessKeyId");
  assert.equal((await archiveMapi(again, "POST", `${USERS}/lena`, { enabled: true })).status, 200);
  assert.equal(await s3Login(again, "lena", "first-1"), "ok");
  assert.equal((await archiveMapi(again, "POST", `${USERS}/lena`, { enabled: false })).status, 200);
  assert.equal(await s3Login(again, "lena", "first-1"), "403 InvalidAccessKeyId");
  assert.equal((await archiveMapi(again, "GET", USERS, undefined, ["lena", "first-1"])).status, 403);
  // Nobody counts for an account that is not there, and 0 never locks.
  assert.equal((await archiveMapi(again, "POST", `${USERS}/lena`, { enabled: true })).status, 200);
  assert.equal((await archiveMapi(again, "POST", "/consoleSecurity", { disableAfterAttempts: 0 })).status, 200);
  for (let i = 0; i < 6; i++) await archiveMapi(again, "GET", USERS, undefined, ["lena", `wrong-${i}`]);
  assert.equal(await s3Login(again, "lena", "first-1"), "ok");
});

storeTest("logins: a locked account opens by itself when its minutes are over", async ({ store }) => {
  await addUser(store);
  const rules = { disableAfterAttempts: 1, automaticUserAccountUnlockSetting: true };
  await post(store, "/consoleSecurity", rules);
  await archiveMapi(store, "GET", USERS, undefined, ["lena", "wrong-1"]);
  assert.equal(await s3Login(store, "lena", "first-1"), "403 InvalidAccessKeyId");
  await post(store, "/consoleSecurity", { automaticUserAccoutUnlockDuration: 0 });
  assert.equal(await s3Login(store, "lena", "first-1"), "ok");
});

storeTest("logins: a burst of guesses locks an account, and none of them succeeds", async ({ store }) => {
  await addUser(store);
  assert.equal((await archiveMapi(store, "POST", "/consoleSecurity", { disableAfterAttempts: 4 })).status, 200);
  const path = `${USERS}/lena`;
  const guess = (_: unknown, i: number) => archiveMapi(store, "GET", path, undefined, ["lena", `guess-${i}`]);
  const guesses = await Promise.all(Array.from({ length: 40 }, guess));
  assert.ok(guesses.every(({ status }) => status === 403));
  assert.equal((await archiveMapi(store, "GET", path, undefined, ["lena", "first-1"])).status, 403);
  assert.equal(await s3Login(store, "lena", "first-1"), "403 InvalidAccessKeyId");
});
