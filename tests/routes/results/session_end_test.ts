import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { revokedSessions } from "@/compose/results.ts";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { mapiAuthorization } from "@/embedded/tests/store/store_fixture.ts";
import { RevokedSessions } from "@/lib/auth/revoked_sessions.ts";
import { givenSessionKeys, sealSession } from "@/lib/auth/session_token.ts";
import { batchedLog } from "@/lib/http/app.ts";
import { DataFolder } from "@/lib/process/data_folder.ts";
import { CONFIRMED_MS } from "@/lib/results/sessions.ts";
import { DataFolderError } from "@/lib/std/start_errors.ts";
import { inProcessResults, resultsRole } from "@/routes/results.ts";
import { bothWays, cookieOf, filledStore, login, NAMESPACE, resultsDeps, serve, STEM, web } from "./results_fixture.ts";

const PATH = `${NAMESPACE}/p/v1/progress.json`;
const FILES = { [PATH]: { body: "{}", type: "application/json" } };
const CLEARED = `${STEM}=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict`;
type Store = Awaited<ReturnType<typeof filledStore>>;

/** Changes accounts of the tenant archive as its administrator. */
async function manage(store: Store, method: string, path: string, body?: unknown): Promise<void> {
  const response = await fetch(`${store.mapi("archive")}/mapi/tenants/archive/userAccounts${path}`, {
    method,
    headers: mapiAuthorization("curator", SAMPLE_PASSWORD),
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  assert.equal(response.status, 200, await response.text());
}

const WALTER = { fullName: "Walter", localAuthentication: true, enabled: true, forcePasswordChange: false };
const CREDENTIALS = { username: "walter", password: "walter-1" };

async function addWalter(store: Store): Promise<void> {
  await manage(store, "PUT", "?password=walter-1", { ...WALTER, username: "walter" });
}

/** Status and `Set-Cookie` of a session's two uses: who it is, and a file. */
async function uses(origin: string, cookie: string): Promise<(string | number | null)[]> {
  const answers = [];
  for (const path of ["_session", PATH]) {
    const response = await fetch(`${origin}/results/${path}`, { headers: { Cookie: cookie } });
    await response.body?.cancel();
    answers.push(response.status, response.headers.get("Set-Cookie"));
  }
  return answers;
}

Deno.test("sessions: a disabled, deleted or changed account ends them within 30 seconds, missing rights do not", async () => {
  const ends: Record<string, (store: Store) => Promise<void>> = {
    disabled: (store) => manage(store, "POST", "/walter", { enabled: false }),
    deleted: (store) => manage(store, "DELETE", "/walter"),
    changed: (store) => manage(store, "POST", "/walter/changePassword", { newPassword: "walter-2" }),
  };
  for (const [how, end] of Object.entries(ends)) {
    await using store = await filledStore(FILES);
    const clock = { now: Date.now() };
    for await (const { way, service } of bothWays(resultsDeps(store.s3("archive"), { now: () => clock.now }))) {
      await using site = web(service);
      await addWalter(store);
      const cookie = cookieOf(await login(site.origin, CREDENTIALS));
      // Walter may not read, which is no reason to forget who he is.
      assert.deepEqual(await uses(site.origin, cookie), [200, null, 403, null], `${how}, ${way}`);
      await end(store);
      clock.now += CONFIRMED_MS;
      assert.deepEqual(await uses(site.origin, cookie), [401, CLEARED, 401, CLEARED], `${how}, ${way}`);
      if (how === "disabled") await manage(store, "POST", "/walter", { enabled: true });
      if (how !== "deleted") await manage(store, "DELETE", "/walter");
      // Another walter, even with the same password, is not logged in by the first one's session.
      await addWalter(store);
      assert.deepEqual(await uses(site.origin, cookie), [401, CLEARED, 401, CLEARED], `${how}, ${way}`);
      clock.now += CONFIRMED_MS;
      const other = cookieOf(await login(site.origin, CREDENTIALS));
      assert.deepEqual(await uses(site.origin, other), [200, null, 403, null], `${how}, ${way}`);
      await manage(store, "DELETE", "/walter");
    }
  }
});

Deno.test("sessions: keys are checked with the store once in 30 seconds, and a rejected file ends the session at once", async () => {
  let refuses = false;
  const asked: string[] = [];
  await using store = serve((request) => {
    asked.push(new URL(request.url).pathname);
    const code = refuses ? "InvalidAccessKeyId" : "NoSuchKey";
    return new Response(`<Error><Code>${code}</Code></Error>`, { status: refuses ? 403 : 404 });
  });
  const clock = { now: Date.now() };
  for await (const { service } of bothWays(resultsDeps(store.origin, { now: () => clock.now }))) {
    await using site = web(service);
    refuses = false;
    const cookie = cookieOf(await login(site.origin));
    // What the login was told counts as well.
    clock.now += CONFIRMED_MS;
    asked.length = 0;
    const session = () => fetch(`${site.origin}/results/_session`, { headers: { Cookie: cookie } });
    const statuses = await Promise.all(Array.from({ length: 20 }, async () => (await session()).status));
    assert.deepEqual([...new Set(statuses)], [200]);
    assert.equal(asked.length, 1);
    clock.now += CONFIRMED_MS - 1;
    assert.equal((await session()).status, 200);
    assert.equal(asked.length, 1);
    refuses = true;
    const file = await fetch(`${site.origin}/results/${PATH}`, { headers: { Cookie: cookie } });
    assert.deepEqual([file.status, file.headers.get("Set-Cookie")], [401, CLEARED]);
    refuses = false;
    assert.equal((await session()).status, 401);
    assert.equal(asked.length, 2);
    clock.now += CONFIRMED_MS;
  }
});

Deno.test("sessions: a store that does not respond is 502, and the session works when it responds again", async () => {
  const answers: (() => Response)[] = [
    () => new Response("", { status: 500 }),
    () => new Response("<Error><Code>SlowDown</Code></Error>", { status: 503 }),
    () => new Response("<Error><Code>RequestTimeTooSkewed</Code></Error>", { status: 403 }),
    () => new Response("<html>proxy</html>", { status: 401 }),
  ];
  const fine = (code = "NoSuchKey", status = 404) => () =>
    new Response(`<Error><Code>${code}</Code></Error>`, { status });
  let answer: () => Response = fine();
  await using store = serve(() => answer());
  const clock = { now: Date.now() };
  for await (const { way, service } of bothWays(resultsDeps(store.origin, { now: () => clock.now }))) {
    await using site = web(service);
    answer = fine();
    const cookie = cookieOf(await login(site.origin));
    const session = async () => {
      const response = await fetch(`${site.origin}/results/_session`, { headers: { Cookie: cookie } });
      await response.body?.cancel();
      return [response.status, response.headers.get("Set-Cookie")];
    };
    for (const [n, broken] of answers.entries()) {
      clock.now += CONFIRMED_MS;
      answer = broken;
      assert.deepEqual(await session(), [502, null], `${n}, ${way}`);
    }
    for (const [code, status] of [["AccessDenied", 403], ["NoSuchBucket", 404], ["NoSuchKey", 404]] as const) {
      clock.now += CONFIRMED_MS;
      answer = fine(code, status);
      assert.deepEqual(await session(), [200, null], code);
    }
  }
});

Deno.test("sessions: a cookie that was logged out opens nothing, here or after a restart", async () => {
  await using store = await filledStore(FILES);
  const path = Deno.makeTempDirSync();
  const folder = DataFolder.open(path);
  const sessionKeys = givenSessionKeys(randomBytes(32));
  const log = batchedLog(() => {});
  const deps = () => resultsDeps(store.s3("archive"), { sessionKeys, revoked: revokedSessions(folder, log) });
  const replayed: string[] = [];
  for await (const { way, service } of bothWays(deps())) {
    await using site = web(service);
    const [cookie, other] = [cookieOf(await login(site.origin)), cookieOf(await login(site.origin))];
    assert.deepEqual(await uses(site.origin, cookie), [200, null, 200, null]);
    const logOut = (origin: string) =>
      fetch(`${site.origin}/results/_logout`, { method: "POST", headers: { Cookie: cookie, Origin: origin } });
    // Another site's page ends nobody's session.
    assert.equal((await logOut("https://evil.example")).status, 403);
    assert.deepEqual(await uses(site.origin, cookie), [200, null, 200, null]);
    assert.equal((await logOut(site.origin)).status, 204);
    assert.deepEqual(await uses(site.origin, cookie), [401, CLEARED, 401, CLEARED], way);
    assert.deepEqual(await uses(site.origin, other), [200, null, 200, null], way);
    replayed.push(cookie);
  }
  assert.equal(Deno.statSync(`${path}/revoked-sessions.json`).mode! & 0o777, 0o600);
  assert.ok(!Deno.readTextFileSync(`${path}/revoked-sessions.json`).includes("reader"));
  for await (const { service } of bothWays(deps())) {
    await using site = web(service);
    for (const cookie of replayed) assert.deepEqual(await uses(site.origin, cookie), [401, CLEARED, 401, CLEARED]);
  }
  Deno.writeTextFileSync(`${path}/revoked-sessions.json`, "{");
  assert.throws(() => revokedSessions(folder, log), (error) => {
    assert.ok(error instanceof DataFolderError);
    assert.match(error.message, /revoked-sessions\.json is damaged, or was .*: restore it, or delete it/);
    return true;
  });
  folder.close();
  Deno.removeSync(path, { recursive: true });
});

Deno.test("sessions: while the key is replaced, sessions of both keys are valid, and a logout ends one of them", async () => {
  await using store = serve(() => new Response("<Error><Code>NoSuchKey</Code></Error>", { status: 404 }));
  const [old, next] = [0, 1].map(() => givenSessionKeys(randomBytes(32))()[0]);
  let keys = [old];
  const role = resultsRole(resultsDeps(store.origin, { sessionKeys: () => keys }));
  await using site = web(inProcessResults(role));
  const logIn = async () => cookieOf(await login(site.origin));
  const cookies = [await logIn(), await logIn()];
  const statuses = () => Promise.all(cookies.map(async (cookie) => (await uses(site.origin, cookie))[0]));
  keys = [old, next];
  assert.deepEqual(await statuses(), [200, 200]);
  keys = [next, old];
  cookies.push(await logIn());
  assert.deepEqual(await statuses(), [200, 200, 200]);
  const headers = { Cookie: cookies[0], Origin: site.origin };
  assert.equal((await fetch(`${site.origin}/results/_logout`, { method: "POST", headers })).status, 204);
  assert.deepEqual(await statuses(), [401, 200, 200]);
  keys = [next];
  assert.deepEqual(await statuses(), [401, 401, 200]);
});

Deno.test("sessions: a logout stores nothing for cookies that were not sealed here", async () => {
  const deps = resultsDeps("http://127.0.0.1:1");
  for await (const { service } of bothWays(deps)) {
    await using site = web(service);
    const expired = sealSession(
      { user: "reader", keys: { accessKey: "a", secretKey: "b" }, expiresAt: Date.now() / 1000 - 1, issuedAt: 0 },
      deps.sessionKeys()[0],
      STEM,
    );
    for (const token of ["x", "A".repeat(200), expired]) {
      const response = await fetch(`${site.origin}/results/_logout`, {
        method: "POST",
        headers: { Cookie: `${STEM}=${token}`, Origin: site.origin },
      });
      assert.equal(response.status, 204);
    }
    assert.equal(deps.revoked.size, 0);
  }
});

Deno.test("sessions: of several cookies of one name the first that holds counts, whatever is before it", async () => {
  await using store = await filledStore(FILES);
  for await (const { way, service } of bothWays(resultsDeps(store.s3("archive")))) {
    await using site = web(service);
    const [good, ended] = [cookieOf(await login(site.origin)), cookieOf(await login(site.origin))];
    await fetch(`${site.origin}/results/_logout`, { method: "POST", headers: { Cookie: ended, Origin: site.origin } });
    for (const bad of [`${STEM}=forged`, `${STEM}="quoted"`, `${STEM}=`, ended, `${good.slice(0, -2)}xx`]) {
      assert.deepEqual(await uses(site.origin, `${bad}; ${good}`), [200, null, 200, null], `${way}: ${bad}`);
    }
    const many = Array.from({ length: 4 }, (_, n) => `${STEM}=${n}`).join("; ");
    assert.deepEqual(await uses(site.origin, `${many}; ${good}`), [401, null, 401, null]);
    // A logout ends all of them.
    const out = await login(site.origin).then(cookieOf);
    await fetch(`${site.origin}/results/_logout`, {
      method: "POST",
      headers: { Cookie: `${STEM}=forged; ${good}; ${out}`, Origin: site.origin },
    });
    for (const cookie of [good, out]) assert.deepEqual(await uses(site.origin, cookie), [401, CLEARED, 401, CLEARED]);
  }
});

Deno.test("sessions: a logout during the check with the store ends the session", async () => {
  let asked = Promise.withResolvers<void>();
  let answer = Promise.resolve();
  await using store = serve(async () => {
    asked.resolve();
    await answer;
    return new Response("<Error><Code>NoSuchKey</Code></Error>", { status: 404 });
  });
  const clock = { now: Date.now() };
  for await (const { service } of bothWays(resultsDeps(store.origin, { now: () => clock.now }))) {
    await using site = web(service);
    const Cookie = cookieOf(await login(site.origin));
    clock.now += CONFIRMED_MS;
    const late = Promise.withResolvers<void>();
    [asked, answer] = [Promise.withResolvers(), late.promise];
    const before = fetch(`${site.origin}/results/_session`, { headers: { Cookie } });
    await asked.promise;
    const headers = { Cookie, Origin: site.origin };
    assert.equal((await fetch(`${site.origin}/results/_logout`, { method: "POST", headers })).status, 204);
    late.resolve();
    const response = await before;
    await response.body?.cancel();
    assert.equal(response.status, 401);
  }
});

Deno.test("sessions: a logout is confirmed once the other replicas can know of it, and holds here before", async () => {
  await using store = await filledStore(FILES);
  let written = Promise.withResolvers<void>();
  let writing = Promise.withResolvers<void>();
  const shared = {
    load: () => Promise.resolve([]),
    async write() {
      writing.resolve();
      await written.promise;
    },
  };
  const revoked = new RevokedSessions(null, batchedLog(() => {}), Date.now, { shared });
  for await (const { service } of bothWays(resultsDeps(store.s3("archive"), { revoked }))) {
    await using site = web(service);
    const cookie = cookieOf(await login(site.origin));
    let isConfirmed = false;
    const headers = { Cookie: cookie, Origin: site.origin };
    const logout = fetch(`${site.origin}/results/_logout`, { method: "POST", headers }).then((response) => {
      isConfirmed = true;
      return response;
    });
    await writing.promise;
    assert.equal((await fetch(`${site.origin}/results/_session`, { headers })).status, 401);
    assert.equal(isConfirmed, false);
    written.resolve();
    const response = await logout;
    assert.deepEqual([response.status, response.headers.get("Set-Cookie")], [204, CLEARED]);
    [written, writing] = [Promise.withResolvers(), Promise.withResolvers()];
  }
});
