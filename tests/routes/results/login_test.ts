import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash, randomBytes } from "node:crypto";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { startStore } from "@/embedded/tests/store/store_fixture.ts";
import { MAX_WRONG_PER_ACCOUNT, MAX_WRONG_PER_ADDRESS } from "@/lib/auth/credential_memory.ts";
import { batchedLog } from "@/lib/http/app.ts";
import { givenSessionKeys, openSession } from "@/lib/auth/session_token.ts";
import { type LoginNote, readLoginNote } from "@/lib/results/results_login.ts";
import { MAX_CHECKS_PER_ADDRESS } from "@/routes/results/login.ts";
import type { ResultsDeps } from "@/routes/results/login.ts";
import { rawRequest } from "./raw_request.ts";
import { bothWays, cookieOf, CREDENTIALS, login, resultsDeps, serve, STEM, web } from "./results_fixture.ts";

type Asked = Pick<Request, "url" | "method" | "headers">;
type Site = { readonly origin: string; readonly port: number };

/** The web role before a results role, both ways, over a store that answers what the test says. */
async function withLogin(
  answer: (request: Request) => Response | Promise<Response>,
  changes: Partial<ResultsDeps>,
  body: (site: Site, asked: Asked[]) => Promise<void>,
): Promise<void> {
  const asked: Asked[] = [];
  await using store = serve((request) => {
    asked.push({ url: request.url, method: request.method, headers: new Headers(request.headers) });
    return answer(request);
  });
  const deps = resultsDeps(store.origin, { trustedHops: 2, ...changes });
  for await (const { service } of bothWays(deps)) {
    asked.length = 0;
    await using site = web(service);
    await body(site, asked);
  }
}

const known = () => new Response("");
const s3 = (status: number, code: string) => () => new Response(`<Error><Code>${code}</Code></Error>`, { status });
const refusing = s3(403, "SignatureDoesNotMatch");

/** Each address has its own allowance. */
let lastAddress = 0;
const elsewhere = () => ({ "X-Forwarded-For": `10.0.${++lastAddress >> 8}.${lastAddress & 255}` });

async function detailOf(response: Response): Promise<[number, unknown]> {
  return [response.status, (await response.json()).detail];
}

function form(origin: string, fields: Record<string, string>, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${origin}/results/_login`, {
    method: "POST",
    redirect: "manual",
    headers: { Origin: origin, ...elsewhere(), ...headers },
    body: new URLSearchParams(fields),
  });
}

Deno.test("login: the real store tells a right password from a wrong one, and a foreign tenant's user from its own", async () => {
  await using store = await startStore();
  for await (const { service } of bothWays(resultsDeps(store.s3("archive"), { trustedHops: 2 }))) {
    await using site = web(service);
    const status = async (username: string, password: string) => {
      const response = await login(site.origin, { username, password }, elsewhere());
      await response.body?.cancel();
      return response.status;
    };
    assert.equal(await status("reader", SAMPLE_PASSWORD), 204);
    assert.equal(await status("archive/reader", SAMPLE_PASSWORD), 204);
    assert.equal(await status("Archive/reader", SAMPLE_PASSWORD), 204);
    assert.equal(await status("reader", SAMPLE_PASSWORD + "x"), 401);
    assert.equal(await status("nobody", SAMPLE_PASSWORD), 401);
    assert.equal(await status("research/researcher", SAMPLE_PASSWORD), 401);
    assert.equal(await status("researcher", SAMPLE_PASSWORD), 401);
    assert.equal(await status("archive/", SAMPLE_PASSWORD), 422);
    assert.equal(await status("kerstin\n\0å😀", "p"), 401);
  }
});

Deno.test("login: requests one byte under the first namespace with the derived keys", async () => {
  const keys = givenSessionKeys(randomBytes(32));
  await withLogin(known, { sessionKeys: keys }, async ({ origin }, asked) => {
    const answer = await login(origin, { username: "Å", password: "hemligt" });
    assert.equal(answer.status, 204);
    const [probe] = asked;
    assert.match(probe.url, /\/campaigns\/batch-default\/$/);
    assert.deepEqual([probe.method, probe.headers.get("range")], ["GET", "bytes=0-0"]);
    const accessKey = Buffer.from("Å", "utf8").toString("base64");
    assert.ok(probe.headers.get("authorization")?.includes(`Credential=${accessKey}/`));
    const token = cookieOf(answer).slice(STEM.length + 1);
    const session = openSession(token, keys()[0], STEM, Date.now());
    assert.deepEqual([session?.user, session?.keys], ["Å", {
      accessKey,
      secretKey: createHash("md5").update("hemligt").digest("hex"),
    }]);
    const hours = ((session?.expiresAt ?? 0) * 1000 - Date.now()) / 3_600_000;
    assert.ok(hours > 7.9 && hours <= 8, String(hours));
    assert.equal(session?.issuedAt, (session?.expiresAt ?? 0) - 8 * 3600);
    assert.ok(!Buffer.from(token, "base64url").toString("latin1").includes("hemligt"));
  });
});

Deno.test("login: without derivation the name and the password are the keys, and names that fit no signature are rejected at once", () =>
  withLogin(known, { keyDerivation: "none" }, async ({ origin }, asked) => {
    assert.equal((await login(origin, { username: "AKIA", password: "se/cret" }, elsewhere())).status, 204);
    assert.ok(asked[0].headers.get("authorization")?.includes("Credential=AKIA/"));
    for (const username of ["a b", "å", "a,b", "a\nb", "\0"]) {
      assert.equal((await login(origin, { username, password: "x" }, elsewhere())).status, 401, username);
    }
    assert.equal(asked.length, 1);
  }));

Deno.test("login: a store that responds neither yes nor no is logged with the settings that may be wrong, and no key", async () => {
  let lines = "";
  const log = batchedLog((text) => lines += text);
  await withLogin(s3(400, "AuthorizationHeaderMalformed"), { log }, async ({ origin }) => {
    lines = "";
    const response = await login(origin, CREDENTIALS, elsewhere());
    assert.deepEqual(await response.json(), { detail: "the results store could not check the login" });
    log.flush();
    const { level, message } = JSON.parse(lines.split("\n").find((line) => line.includes("message")) ?? "{}");
    assert.equal(level, "warn");
    assert.match(message, /400 AuthorizationHeaderMalformed .*RESULTS_KEY_DERIVATION \(hcp\)$/);
    assert.ok(!lines.includes(CREDENTIALS.password));
  });
});

Deno.test("login: the store's error code decides whether the credentials are right", async () => {
  let answer: () => Response = known;
  await withLogin(() => answer(), {}, async ({ origin }) => {
    const cases: [() => Response, number][] = [
      [() => new Response("x", { status: 206 }), 204],
      [s3(404, "NoSuchKey"), 204],
      [s3(404, "NotFound"), 204],
      [() => new Response(null, { status: 404 }), 204],
      [s3(403, "AccessDenied"), 204],
      [s3(416, "InvalidRange"), 204],
      [s3(403, "InvalidAccessKeyId"), 401],
      [s3(403, "SignatureDoesNotMatch"), 401],
      [s3(400, "SignatureDoesNotMatch"), 401],
      [() => new Response(null, { status: 403 }), 502],
      [() => new Response("<html>forbidden</html>", { status: 403 }), 502],
      [() => new Response(null, { status: 400 }), 502],
      [s3(403, "RequestTimeTooSkewed"), 502],
      [s3(404, "NoSuchBucket"), 502],
      [s3(503, "SlowDown"), 502],
      [() => new Response(null, { status: 301, headers: { Location: "/x" } }), 502],
    ];
    for (const [given, expected] of cases) {
      answer = given;
      const response = await login(origin, CREDENTIALS, elsewhere());
      assert.equal(response.status, expected, given.toString());
      assert.equal(response.headers.has("set-cookie"), expected === 204);
      assert.doesNotMatch(await response.text(), /stackroom-demo|Error|html/);
    }
  });
});

Deno.test("login: another origin is rejected before a request to the store", () =>
  withLogin(known, {}, async ({ origin, port }, asked) => {
    const status = async (headers: Record<string, string>) => {
      const body = JSON.stringify(CREDENTIALS);
      const all = { "Content-Type": "application/json", "Content-Length": String(body.length), ...headers };
      return (await rawRequest(port, "POST", "/results/_login", all, body))[0];
    };
    const refused: Record<string, string>[] = [
      {},
      { Origin: "http://evil.example" },
      { Origin: origin, "X-Forwarded-Host": "campaigns.example.org" },
      { Origin: origin, "X-Forwarded-Proto": "https" },
    ];
    for (const headers of refused) {
      assert.equal(await status(headers), 403, JSON.stringify(headers));
    }
    assert.equal(asked.length, 0);
    assert.equal(await status({ Origin: origin }), 204);
    const forwarded = { "X-Forwarded-Host": "Campaigns.example.org:443", "X-Forwarded-Proto": "https" };
    assert.equal(await status({ Origin: "https://campaigns.example.org", ...forwarded, ...elsewhere() }), 204);

    const logout = (headers: Record<string, string>) => fetch(`${origin}/results/_logout`, { method: "POST", headers });
    assert.deepEqual(await detailOf(await logout({})), [403, "cross-origin request refused"]);
    assert.equal((await logout({ Origin: origin })).status, 204);
  }));

Deno.test("login: without a proxy of ours, forwarded headers do not make another origin ours", async () => {
  await using store = serve(known);
  for await (const { service } of bothWays(resultsDeps(store.origin))) {
    await using site = web(service, undefined, undefined, 0);
    const evil = { "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https" };
    const status = async (headers: Record<string, string>) => {
      const response = await login(site.origin, CREDENTIALS, headers);
      await response.body?.cancel();
      return [response.status, response.headers.get("set-cookie")?.slice(0, STEM.length)];
    };
    assert.deepEqual(await status({ ...evil, Origin: "https://evil.example" }), [403, undefined]);
    assert.deepEqual(await status({ "X-Forwarded-Proto": "https", Origin: site.origin.replace(":", "s:") }), [
      403,
      undefined,
    ]);
    // They change nothing for the own origin, and the cookie is that of plain HTTP.
    assert.deepEqual(await status(evil), [204, STEM]);
    const logout = await fetch(`${site.origin}/results/_logout`, {
      method: "POST",
      headers: { ...evil, Origin: "https://evil.example" },
    });
    assert.deepEqual(await detailOf(logout), [403, "cross-origin request refused"]);
  }
});

Deno.test("login: behind HTTPS the cookie is bound to the host and secure", () =>
  withLogin(known, {}, async ({ origin }) => {
    const forwarded = { "X-Forwarded-Host": "a.example", "X-Forwarded-Proto": "https", Origin: "https://a.example" };
    const answer = await login(origin, CREDENTIALS, forwarded);
    assert.match(
      answer.headers.get("set-cookie") ?? "",
      /^__Host-results_session=[\w-]+; Max-Age=28800; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    );
    const out = await fetch(`${origin}/results/_logout`, { method: "POST", headers: forwarded });
    assert.match(out.headers.get("set-cookie") ?? "", /^__Host-results_session=; Max-Age=0; .*; Secure$/);
  }));

Deno.test("login: a malformed body is named, never repeated, and no attempt", () =>
  withLogin(known, {}, async ({ origin }, asked) => {
    for (
      const body of [
        "",
        "{",
        "[]",
        "null",
        "7",
        "{}",
        `{"username":"a"}`,
        `{"username":"","password":"x"}`,
        `{"username":"a","password":""}`,
        `{"username":["a"],"password":{"$ne":1}}`,
        `{"username":7000017,"password":7000017}`,
        `{"username":"a","password":"\\ud800"}`,
        JSON.stringify({ username: "a".repeat(257), password: "hunter2" }),
        JSON.stringify({ username: "a", password: "hunter2".repeat(200) }),
        "username=a&password=hunter2",
      ]
    ) {
      const response = await login(origin, body);
      assert.equal(response.status, 422, body.slice(0, 40));
      assert.equal(response.headers.get("cache-control"), "private, no-cache");
      assert.doesNotMatch(await response.text(), /hunter2|7000017/);
    }
    assert.equal(asked.length, 0);
    assert.equal((await login(origin, { ...CREDENTIALS, more: 1 })).status, 204);
    assert.deepEqual(await detailOf(await login(origin, " ".repeat(16 * 1024 + 1))), [413, "body too large"]);
  }));

Deno.test("login: a form is led to its next page, which is always one of ours", () =>
  withLogin(known, {}, async ({ origin }) => {
    const cases = [
      ["/log?log=a%2Fb&live=1#x", "/log?log=a%2Fb&live=1#x"],
      ["//evil.example/", "/"],
      ["/login?next=/login", "/"],
      ["/å b", "/%C3%A5%20b"],
    ];
    for (const [next, place] of cases) {
      const response = await form(origin, { ...CREDENTIALS, next });
      assert.deepEqual([response.status, response.headers.get("location")], [303, place], next);
      assert.match(response.headers.get("set-cookie") ?? "", /^results_session=[\w-]+; /);
      assert.equal(response.headers.get("cache-control"), "private, no-store");
    }
    const none = await form(origin, CREDENTIALS);
    assert.equal(none.headers.get("location"), "/");
  }));

Deno.test("login: a failed form goes back to the login page with its reason and its next", async () => {
  let answer: () => Response = refusing;
  await withLogin(() => answer(), {}, async ({ origin }) => {
    const place = async (fields: Record<string, string>, headers: Record<string, string> = {}) => {
      const response = await form(origin, fields, headers);
      assert.equal(response.status, 303);
      assert.doesNotMatch(response.headers.get("set-cookie") ?? "", /results_session/);
      return response.headers.get("location");
    };
    const next = "/log?a=b&c=d";
    assert.equal(await place({ ...CREDENTIALS, next }), "/login?error=401&next=%2Flog%3Fa%3Db%26c%3Dd");
    assert.equal(await place({ ...CREDENTIALS, next: "//evil.example" }), "/login?error=401");
    assert.equal(await place({ username: "a", next }), "/login?error=422&next=%2Flog%3Fa%3Db%26c%3Dd");
    assert.equal(await place({ username: "a", password: "" }), "/login?error=422");
    assert.equal(await place(CREDENTIALS, { Origin: "http://evil.example" }), "/login?error=403&code=origin_host");
    const secured = origin.replace("http:", "https:");
    assert.equal(await place(CREDENTIALS, { Origin: secured }), "/login?error=403&code=origin_scheme");
    answer = s3(500, "InternalError");
    assert.equal(await place(CREDENTIALS), "/login?error=502");
    answer = refusing;
    const address = elsewhere();
    for (let n = 0; n < MAX_WRONG_PER_ACCOUNT; n++) await place({ ...CREDENTIALS, password: `p${n}` }, address);
    assert.equal(await place(CREDENTIALS, address), "/login?error=429");
  });
});

/** What the login page would read after this answer. */
function noteOf(response: Response): LoginNote | null {
  const headers = { Cookie: response.headers.getSetCookie().map((cookie) => cookie.split(";")[0]).join("; ") };
  return readLoginNote(new Request("http://site.example/login", { headers }));
}

Deno.test("login: a form leaves a note for the login page alone: the name, the wait, the end of the session, the logout", async () => {
  let answer: () => Response = refusing;
  const now = Date.now();
  await withLogin(() => answer(), { now: () => now }, async ({ origin }) => {
    answer = refusing;
    const address = elsewhere();
    const failed = await form(origin, { username: "åsa", password: "wrong" }, address);
    assert.match(
      failed.headers.get("set-cookie") ?? "",
      /^login_note=[\w-]+; Max-Age=600; Path=\/login; HttpOnly; SameSite=Strict$/,
    );
    assert.deepEqual(noteOf(failed), { kind: "failed", username: "åsa", retryAt: null });
    for (let n = 1; n < MAX_WRONG_PER_ACCOUNT; n++) await form(origin, { username: "åsa", password: `p${n}` }, address);
    const locked = await form(origin, { username: "åsa", password: "wrong" }, address);
    assert.deepEqual(noteOf(locked), { kind: "failed", username: "åsa", retryAt: now + 5000 });
    assert.deepEqual(noteOf(await form(origin, { password: "x" })), { kind: "failed", username: "", retryAt: null });
    assert.equal(noteOf(await form(origin, CREDENTIALS, { Origin: "http://evil.example" })), null);
    answer = known;
    const right = await form(origin, CREDENTIALS);
    assert.deepEqual(noteOf(right), { kind: "session", endsAt: now + 8 * 3600_000 });
    assert.deepEqual(right.headers.getSetCookie().length, 2);
    assert.deepEqual(
      (await login(origin, CREDENTIALS, elsewhere())).headers.getSetCookie().length,
      1,
      "JSON leaves none",
    );
    const headers = { Origin: origin, "X-Forwarded-Proto": "http" };
    const out = await fetch(`${origin}/results/_logout`, {
      method: "POST",
      redirect: "manual",
      headers,
      body: new URLSearchParams({ next: "/" }),
    });
    assert.deepEqual(noteOf(out), { kind: "loggedOut" });
  });
});

Deno.test("logout: a form is led to the login page without its session", () =>
  withLogin(known, {}, async ({ origin }) => {
    const response = await fetch(`${origin}/results/_logout`, {
      method: "POST",
      redirect: "manual",
      headers: { Origin: origin },
      body: new URLSearchParams({ next: "//evil.example" }),
    });
    assert.deepEqual([response.status, response.headers.get("location")], [303, "/login"]);
    assert.match(response.headers.get("set-cookie") ?? "", /^results_session=; Max-Age=0; /);
  }));

Deno.test("login: an address that guessed too often waits, whatever it says before its address, and a success frees its own name only", async () => {
  let now = Date.now();
  const judging = (request: Request) =>
    request.headers.get("Authorization")?.includes(btoa("reader")) ? known() : refusing();
  await withLogin(judging, { trustedHops: 1, now: () => now }, async ({ origin }, asked) => {
    const attempt = (username: string, n: number) =>
      login(origin, { username, password: `x${n}` }, { "X-Forwarded-For": `6.6.6.${n}` });
    for (let n = 0; n < MAX_WRONG_PER_ADDRESS; n++) {
      const { status } = await attempt(`user${n}`, n);
      assert.equal(status, 401);
      // One valid account between all the wrong ones frees nothing.
      if (n === 30) assert.equal((await attempt("reader", n)).status, 204);
    }
    const blocked = await attempt("user99", 99);
    assert.deepEqual([blocked.status, blocked.headers.get("retry-after")], [429, "5"]);
    assert.equal((await blocked.json()).detail, "too many wrong logins from this address, try again in 5 s");
    assert.equal(asked.length, MAX_WRONG_PER_ADDRESS + 1);
    assert.equal((await attempt("reader", 200)).status, 204, "who logged in from there lately still can");
    now += 5000;
    assert.equal((await attempt("user99", 99)).status, 401);
    const longer = await attempt("user99", 99);
    assert.deepEqual([longer.status, longer.headers.get("retry-after")], [429, "10"]);
    await longer.body?.cancel();
    now += 3600_000;
  });
});

Deno.test("login: guesses of one name wait in any spelling, those of other names do not", () =>
  withLogin(refusing, {}, async ({ origin }) => {
    const names = ["reader", "READER", "archive/Reader"];
    const address = elsewhere();
    for (let n = 0; n < MAX_WRONG_PER_ACCOUNT; n++) {
      const response = await login(origin, { username: names[n % 3], password: `x${n}` }, address);
      assert.equal(response.status, 401);
    }
    const blocked = await login(origin, CREDENTIALS, address);
    assert.deepEqual(await detailOf(blocked), [429, "too many wrong logins under this name, try again in 5 s"]);
    assert.equal((await login(origin, { username: "other", password: "x" }, address)).status, 401);
    assert.equal((await login(origin, CREDENTIALS, elsewhere())).status, 401, "from elsewhere the name is open");
  }));

Deno.test("login: what the store could not judge is not counted", () =>
  withLogin(s3(500, "InternalError"), {}, async ({ origin }) => {
    for (let n = 0; n < 12; n++) assert.equal((await login(origin)).status, 502);
  }));

Deno.test("login: four of an address wait for the store at once, the next gets 429 with Retry-After", async () => {
  const gate = () => ({ waiting: 0, full: Promise.withResolvers<void>(), open: Promise.withResolvers<void>() });
  let store = gate();
  const answer = async () => {
    if (++store.waiting === MAX_CHECKS_PER_ADDRESS) store.full.resolve();
    await store.open.promise;
    return new Response("");
  };
  await withLogin(answer, {}, async ({ origin }) => {
    store = gate();
    const address = elsewhere();
    const attempt = (username: string) => login(origin, { username, password: "x" }, address);
    const slow = Array.from({ length: MAX_CHECKS_PER_ADDRESS }, (_, n) => attempt(`u${n}`));
    await store.full.promise;
    const busy = await attempt("v");
    assert.deepEqual([busy.status, busy.headers.get("retry-after")], [429, "1"]);
    await busy.body?.cancel();
    const busyForm = await form(origin, { username: "v", password: "x" }, address);
    const other = login(origin, { username: "v", password: "x" }, elsewhere());
    store.open.resolve();
    assert.equal(busyForm.headers.get("location"), "/login?error=429");
    assert.deepEqual(noteOf(busyForm), { kind: "failed", username: "v", retryAt: null });
    assert.equal((await other).status, 204);
    assert.deepEqual((await Promise.all(slow)).map(({ status }) => status), [204, 204, 204, 204]);
    assert.equal((await attempt("v")).status, 204);
  });
});

Deno.test("login: a hundred accounts of one address log in at once, and none is refused", () =>
  withLogin(known, {}, async ({ origin }) => {
    const address = elsewhere();
    const attempts = Array.from(
      { length: 100 },
      (_, n) => login(origin, { username: `u${n}`, password: "x" }, address),
    );
    assert.deepEqual((await Promise.all(attempts)).map(({ status }) => status), Array(100).fill(204));
  }));

Deno.test("login: without a readable key it is 503 without a request to the store", () =>
  withLogin(known, { sessionKeys: () => [] }, async ({ origin }, asked) => {
    for (let n = 0; n < 6; n++) assert.equal((await login(origin)).status, 503);
    assert.equal(asked.length, 0);
    const session = await fetch(`${origin}/results/_session`, { headers: { Cookie: `${STEM}=abc` } });
    assert.deepEqual(await detailOf(session), [401, "not logged in"]);
  }));

Deno.test("login: keys too long for a cookie are rejected", () =>
  withLogin(known, { keyDerivation: "none" }, async ({ origin }, asked) => {
    const response = await login(origin, { username: "a", password: "å".repeat(1024) + "" });
    assert.equal(response.status, 204);
    const longer = await login(origin, { username: "a", password: "字".repeat(1024) });
    assert.deepEqual(await detailOf(longer), [422, [{
      type: "value_error",
      loc: ["body", "password"],
      msg: "User name and password are too long for a session",
    }]]);
    assert.equal(asked.length, 1);
  }));
