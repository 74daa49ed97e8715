import assert from "node:assert/strict";
import { batchedLog } from "@/lib/http/app.ts";
import { upstreamClient, type UpstreamRequest } from "@/lib/http/upstream.ts";
import { sessionCheck } from "@/lib/results/session_check.ts";
import {
  bothWays,
  cookieOf,
  CREDENTIALS,
  filledStore,
  login,
  NAMESPACE,
  remoteService,
  resultsDeps,
  serve,
  STEM,
  web,
} from "./results_fixture.ts";

const XML = `<?xml version="1.0"?><alto>å</alto>`;
const FILES = {
  [`${NAMESPACE}/p/v 1/alto/å"'#?+%41.xml`]: { body: XML, type: "text/xml; charset=utf-8" },
  [`${NAMESPACE}/p/v1/progress.json`]: { body: `{"pages_total":3}`, type: "application/json" },
  [`${NAMESPACE}/status/logs/p/v1.txt`]: { body: "0123456789", type: "text/plain" },
  [`${NAMESPACE}/p/v1/page.html`]: { body: "<script>alert(1)</script>", type: "text/html" },
  [`batch-other/p/v1/progress.json`]: { body: `{}`, type: "application/json" },
  [`secret/p/v1/progress.json`]: { body: "not served", type: "application/json" },
};
const LOG = `/results/${NAMESPACE}/status/logs/p/v1.txt`;

Deno.test("results: login, session, file, logout over two servers and in one process", async () => {
  await using store = await filledStore(FILES);
  for await (const { way, service } of bothWays(resultsDeps(store.s3("archive")))) {
    await using site = web(service);
    const answer = await login(site.origin);
    assert.equal(answer.status, 204, way);
    assert.equal(answer.headers.get("cache-control"), "private, no-store");
    assert.match(
      answer.headers.get("set-cookie") ?? "",
      /^results_session=[\w-]+; Max-Age=28800; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    const Cookie = cookieOf(answer);

    const session = await fetch(`${site.origin}/results/_session`, { headers: { Cookie } });
    assert.deepEqual([session.status, await session.json()], [200, { user: "reader" }]);

    const path = `/results/${NAMESPACE}/p/v%201/alto/%C3%A5%22%27%23%3F%2B%2541.xml`;
    const file = await fetch(site.origin + path, { headers: { Cookie: `x=1; ${Cookie}; y=2` } });
    assert.deepEqual([file.status, await file.text()], [200, XML], way);
    assert.equal(file.headers.get("content-type"), "text/xml; charset=utf-8");
    assert.equal(file.headers.get("cache-control"), "private, no-cache");
    assert.equal(file.headers.get("content-security-policy"), "default-src 'none'; sandbox; frame-ancestors 'none'");
    assert.equal(file.headers.get("x-content-type-options"), "nosniff");
    assert.equal(file.headers.get("content-disposition"), null);
    assert.equal(file.headers.get("content-length"), String(new TextEncoder().encode(XML).length));
    assert.ok(file.headers.get("etag") && file.headers.get("last-modified"));

    const head = await fetch(site.origin + path, { method: "HEAD", headers: { Cookie } });
    assert.equal(head.headers.get("content-length"), file.headers.get("content-length"));
    assert.deepEqual([head.status, await head.text()], [200, ""]);

    const other = await fetch(`${site.origin}/results/batch-other/p/v1/progress.json`, { headers: { Cookie } });
    assert.deepEqual([other.status, await other.text()], [200, "{}"]);

    const out = await fetch(`${site.origin}/results/_logout`, {
      method: "POST",
      headers: { Cookie, Origin: site.origin },
    });
    assert.equal(out.status, 204);
    assert.equal(out.headers.get("set-cookie"), "results_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict");

    const without = await fetch(site.origin + path);
    assert.deepEqual([without.status, await without.json()], [401, { detail: "not logged in" }]);
    assert.equal(without.headers.get("cache-control"), "private, no-cache");
  }
});

Deno.test("results: a page is a download, ranges and conditions work", async () => {
  await using store = await filledStore(FILES);
  for await (const { way, service } of bothWays(resultsDeps(store.s3("archive")))) {
    await using site = web(service);
    const Cookie = cookieOf(await login(site.origin));
    const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
      fetch(site.origin + path, { method, headers: { Cookie, ...headers } });

    const page = await get(`/results/${NAMESPACE}/p/v1/page.html`);
    assert.equal(page.headers.get("content-type"), "application/octet-stream", way);
    assert.equal(page.headers.get("content-disposition"), "attachment");
    await page.body?.cancel();

    const whole = await get(LOG);
    const etag = whole.headers.get("etag") ?? "";
    const modified = whole.headers.get("last-modified") ?? "";
    assert.deepEqual([whole.headers.get("accept-ranges"), await whole.text()], ["bytes", "0123456789"]);

    const part = await get(LOG, { Range: "bytes=2-4" });
    assert.deepEqual([part.status, part.headers.get("content-range"), await part.text()], [206, "bytes 2-4/10", "234"]);
    assert.equal(part.headers.get("content-length"), "3");
    const tail = await get(LOG, { Range: "bytes=-2", "If-Range": etag });
    assert.deepEqual([tail.status, await tail.text()], [206, "89"]);
    const changed = await get(LOG, { Range: "bytes=-2", "If-Range": '"other"' });
    assert.deepEqual([changed.status, await changed.text()], [200, "0123456789"]);
    const behind = await get(LOG, { Range: "bytes=10-" });
    assert.deepEqual([behind.status, behind.headers.get("content-range")], [416, "bytes */10"]);
    assert.deepEqual(await behind.json(), { detail: "the file has no such range" });

    for (
      const condition of [{ "If-None-Match": etag }, { "If-Modified-Since": modified }] as Record<string, string>[]
    ) {
      const same = await get(LOG, condition);
      assert.deepEqual([same.status, await same.text(), same.headers.get("etag")], [304, "", etag]);
      assert.equal(same.headers.get("cache-control"), "private, no-cache");
      assert.equal(same.headers.get("content-security-policy"), "default-src 'none'; sandbox; frame-ancestors 'none'");
    }
    const nonsense = await get(LOG, { "If-Modified-Since": "1", Range: "lines=1-2" });
    assert.deepEqual([nonsense.status, await nonsense.text()], [200, "0123456789"]);

    const gone = await get(`/results/${NAMESPACE}/p/none.json`);
    assert.deepEqual([gone.status, await gone.json()], [404, { detail: "file not found" }]);
    const goneHead = await get(`/results/${NAMESPACE}/p/none.json`, {}, "HEAD");
    assert.deepEqual([goneHead.status, goneHead.headers.get("set-cookie")], [404, null]);
    for (const method of ["PUT", "DELETE", "OPTIONS", "POST"]) {
      const refused = await get(LOG, {}, method);
      assert.equal(refused.status, 405, method);
      assert.ok(refused.headers.get("allow"));
      await refused.body?.cancel();
    }
    for (const [path, method] of [["_login", "GET"], ["_logout", "GET"], ["_session", "POST"]]) {
      assert.equal((await get(`/results/${path}`, {}, method)).status, 405, path);
    }
  }
});

Deno.test("results: a response to one user's session never serves another", async () => {
  await using store = await filledStore(FILES);
  for await (const { service } of bothWays(resultsDeps(store.s3("archive")))) {
    await using site = web(service);
    const { check } = sessionCheck({ service, cookieStem: STEM, now: Date.now });
    const names = ["reader", "curator"];
    const cookies = await Promise.all(
      names.map(async (username) => cookieOf(await login(site.origin, { ...CREDENTIALS, username }))),
    );
    for (let round = 0; round < 3; round++) {
      const seen = await Promise.all(cookies.map(async (Cookie) => {
        const session = await fetch(`${site.origin}/results/_session`, { headers: { Cookie } });
        assert.equal(session.headers.get("set-cookie"), null);
        const { user } = await session.json();
        return [user, (await check(new Request(site.origin, { headers: { Cookie } }))).user];
      }));
      assert.deepEqual(seen, names.map((name) => [name, name]));
    }
    const nobody = await fetch(`${site.origin}/results/_session`);
    assert.deepEqual([nobody.status, await nobody.json()], [401, { detail: "not logged in" }]);
  }
});

Deno.test("results: a file is read with the keys of the session that asks, however many ask at once", async () => {
  await using store = serve((request) => {
    const user = /Credential=([^/]+)/.exec(request.headers.get("Authorization") ?? "")?.[1] ?? "";
    return new Response(atob(user).repeat(1000), { headers: { "Content-Type": "text/plain" } });
  });
  for await (const { service } of bothWays(resultsDeps(store.origin))) {
    await using site = web(service);
    const names = ["ann", "bo", "cecilia"];
    const cookies = await Promise.all(
      names.map(async (username) => cookieOf(await login(site.origin, { username, password: "x" }))),
    );
    const asked = Array.from({ length: 30 }, (_, n) => n % names.length);
    const bodies = await Promise.all(asked.map(async (n) => {
      const response = await fetch(site.origin + LOG, { headers: { Cookie: cookies[n] } });
      assert.equal(response.headers.get("cache-control"), "private, no-cache");
      return await response.text();
    }));
    assert.deepEqual(bodies, asked.map((n) => names[n].repeat(1000)));
  }
});

Deno.test("results: HEAD has the Content-Length of GET, errors included, over two servers and in one process", async () => {
  await using store = await filledStore(FILES);
  for await (const { way, service } of bothWays(resultsDeps(store.s3("archive")))) {
    await using site = web(service);
    const Cookie = cookieOf(await login(site.origin));
    for (const headers of [{ Cookie }, { Cookie: "" }]) {
      for (const path of ["/results/_session", LOG, `/results/${NAMESPACE}/nothing`]) {
        const get = await fetch(site.origin + path, { headers });
        const head = await fetch(site.origin + path, { method: "HEAD", headers });
        assert.equal(head.status, get.status, `${way}: ${path}`);
        assert.equal(head.headers.get("content-length"), String((await get.bytes()).length), `${way}: ${path}`);
      }
    }
  }
});

Deno.test("store: its errors are mapped to ours, and rejected keys end the session in the browser", async () => {
  let refusal: () => Response | Promise<Response> = () => new Response("");
  await using store = serve(() => refusal());
  const s3 = (status: number, code: string) => () => new Response(`<Error><Code>${code}</Code></Error>`, { status });
  for await (const { way, service } of bothWays(resultsDeps(store.origin))) {
    await using site = web(service);
    const cases: [() => Response, number, string][] = [
      [s3(404, "NoSuchKey"), 404, "GET"],
      [s3(404, "NoSuchBucket"), 502, "GET"],
      [() => new Response(null, { status: 404 }), 404, "HEAD"],
      [s3(403, "AccessDenied"), 403, "GET"],
      [() => new Response(null, { status: 403 }), 403, "HEAD"],
      [s3(403, "RequestTimeTooSkewed"), 502, "GET"],
      [s3(403, "InvalidAccessKeyId"), 401, "GET"],
      [s3(403, "SignatureDoesNotMatch"), 401, "GET"],
      [s3(500, "InternalError"), 502, "GET"],
      [s3(503, "SlowDown"), 502, "GET"],
      [() => new Response(null, { status: 302, headers: { Location: "http://elsewhere.example/" } }), 502, "GET"],
    ];
    for (const [answer, status, method] of cases) {
      refusal = () => new Response("");
      const Cookie = cookieOf(await login(site.origin));
      refusal = answer;
      const response = await fetch(site.origin + LOG, { method, redirect: "manual", headers: { Cookie } });
      const text = await response.text();
      assert.equal(response.status, status, `${way}: ${text}`);
      assert.equal(response.headers.get("cache-control"), "private, no-cache");
      assert.equal(response.headers.get("x-content-type-options"), "nosniff");
      assert.equal(
        response.headers.get("set-cookie")?.startsWith("results_session=; Max-Age=0;") ?? false,
        status === 401,
      );
      assert.equal(response.headers.get("location"), null);
      if (method === "GET") assert.equal(typeof JSON.parse(text).detail, "string");
    }
  }
});

Deno.test("store: unreachable is 502, no response in time is 504", async () => {
  const gone = serve(() => new Response(""));
  let mute = false;
  const silence = Promise.withResolvers<void>();
  await using store = serve(() => mute ? silence.promise.then(() => new Response("")) : new Response(""));
  const deps = resultsDeps(store.origin);
  const impatient = upstreamClient({ verifyTls: true, timeoutMs: 50 });
  // The role waits 30 s; the test's store is given up sooner.
  const quick = {
    ...deps.store,
    s3: {
      ...deps.store.s3,
      upstream: { send: (request: UpstreamRequest) => impatient.send({ ...request, timeoutMs: mute ? 50 : 30_000 }) },
    },
  };
  for await (const { service } of bothWays({ ...deps, store: quick })) {
    mute = false;
    await using site = web(service);
    const Cookie = cookieOf(await login(site.origin));
    mute = true;
    assert.equal((await fetch(site.origin + LOG, { headers: { Cookie } })).status, 504);
    assert.equal((await login(site.origin)).status, 504);
  }
  silence.resolve();
  await gone[Symbol.asyncDispose]();
  const dead = resultsDeps(gone.origin);
  for await (const { service } of bothWays({ ...dead, sessionKeys: deps.sessionKeys })) {
    await using site = web(service);
    const answer = await login(site.origin);
    assert.equal(answer.status, 502);
    assert.doesNotMatch(await answer.text(), /127\.0\.0\.1|stackroom-demo/);
  }
});

Deno.test("pass-through: with no role behind it every path is 502 with the sentence that pages know", async () => {
  const gone = serve(() => new Response(""));
  await gone[Symbol.asyncDispose]();
  let lines = "";
  const log = batchedLog((text) => lines += text);
  await using site = web(remoteService(gone.origin), log);
  for (const [method, path] of [["GET", "_session"], ["GET", "x/y"], ["POST", "_login"]]) {
    const response = await fetch(`${site.origin}/results/${path}`, { method });
    const body = { detail: "the results service did not answer", code: "results_unavailable" };
    assert.deepEqual([response.status, await response.json()], [502, body]);
    assert.equal(response.headers.get("cache-control"), "private, no-cache");
  }
  log.flush();
  assert.equal(lines, "");
});
