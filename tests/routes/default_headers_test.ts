import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { App } from "@/lib/http/app.ts";
import { givenSessionKeys } from "@/lib/auth/session_token.ts";
import type { AppDeps } from "@/compose/app.ts";
import { inProcessResults, resultsRole } from "@/routes/results.ts";
import type { WebDeps } from "@/routes/web.ts";
import { NO_LOG } from "@/tests/lib/http/no_log.ts";
import { LUND } from "@/tests/routes/api/v1/jobs_fixture.ts";
import { type Document, requestsOf } from "@/tests/routes/api/v1/mapi/schema_samples.ts";
import { fakeSource } from "@/tests/routes/api/v1/web_fixture.ts";
import { cookieOf, resultsDeps } from "@/tests/routes/results/results_fixture.ts";
import { type FakeAnswer, NOW, withGateway } from "./gateway_fixture.ts";
import { webDeps } from "./web_deps_fixture.ts";
import { removeAtEnd } from "@/tests/remove_at_end.ts";

const HOST = "http://localhost";

/** What a store answers that wants its documents to be run and framed. */
const pageOfTheStore: FakeAnswer = ({ method }) =>
  new Response(method === "HEAD" ? null : "<h1>page</h1>", {
    headers: {
      "Content-Type": "text/html",
      "Content-Security-Policy": "frame-ancestors *",
      "Content-Length": "13",
      ETag: '"a"',
    },
  });

function results(endpoint: string): ReturnType<typeof resultsDeps> {
  return resultsDeps(endpoint, { sessionKeys: givenSessionKeys(randomBytes(32)), log: NO_LOG, now: () => NOW });
}

function web(storeOrigin: string, staticFolder: string): WebDeps {
  const service = inProcessResults(resultsRole(results(storeOrigin)));
  return webDeps(fakeSource({ campaigns: LUND }), { service, staticFolder, now: () => NOW });
}

/** The parts of a process that plays these roles. */
function roles(names: string, storeOrigin: string, staticFolder: string): Partial<AppDeps> {
  const hasWeb = names.includes("web");
  const role = results(storeOrigin);
  return {
    ...(names.includes("gateway") ? {} : { gateway: null }),
    web: hasWeb ? web(storeOrigin, staticFolder) : null,
    results: names.includes("results") && !hasWeb ? resultsRole(role) : null,
    resultsStore: names.includes("results") ? role.store : null,
    allowedHosts: ["localhost"],
  };
}

async function withRoles(
  names: string,
  test: (app: App, bearer: HeadersInit, answer: (given: FakeAnswer) => void) => Promise<void>,
): Promise<void> {
  const staticFolder = await Deno.makeTempDir();
  const ownPolicy = `<head><meta http-equiv="Content-Security-Policy" content="script-src 'self'"></head>`;
  const files = {
    "page.html": ownPolicy,
    "other.html": "<p>",
    "uv.html": "<script>go()</script>",
    "a.svg": "<svg/>",
    "a.bin": "x",
  };
  for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${staticFolder}/${name}`, text);
  const app: Partial<AppDeps> = {};
  using _removal = removeAtEnd(staticFolder);
  // The store's address is known only once it listens.
  await withGateway({ app: {} }, async ({ storeOrigin, answer: answerWith }) => {
    answerWith(pageOfTheStore);
    Object.assign(app, roles(names, storeOrigin, staticFolder));
    await withGateway({ app }, async ({ app, bearer, answer }) => {
      answer(pageOfTheStore);
      await test(app, bearer, (given) => {
        answer(given);
        answerWith(given);
      });
    });
  });
}

const PAGES = [
  ..."/ /login /login?error=401 /log /alto /page.html /page /other.html /uv.html /uv /a.svg /a.bin /config.js".split(
    " ",
  ),
  ..."/docs /docs/ /docs/start.js /docs/swagger-ui.css /redoc /openapi.json /health /healthz /readyz".split(" "),
  ..."/build/none.js /nothing /%ff /api/v1/nothing /api/v1/jobs/ /api/v1/jobs/batch-default/lund".split(" "),
  ..."/results /results/ /results/_session /results/_nothing /results/nowhere/x /results/batch-default/a/../b".split(
    " ",
  ),
  "/results/batch-default/a.html",
];

/** Whether a browser that enforces every policy of the answer lets a page frame it. */
function isUnframed(headers: Headers): boolean {
  const policies = (headers.get("Content-Security-Policy") ?? "").split(",");
  return policies.some((policy) => policy.split(";").some((part) => part.trim() === "frame-ancestors 'none'"));
}

for (const names of ["gateway", "web", "results", "gateway web results"]) {
  Deno.test(`headers: no page may frame any answer of ${names}, whatever it is`, async () => {
    let document: Document | undefined;
    await withRoles("gateway web results", async (app) => {
      document = await (await app.request("/openapi.json")).json();
    });
    assert.ok(document);
    const operations = requestsOf(document);
    assert.ok(operations.length > 120);
    await withRoles(names, async (app, bearer, answer) => {
      const seen = new Set<number>();
      const look = async (path: string, init: RequestInit = {}) => {
        const response = await app.request(HOST + path, { redirect: "manual", ...init });
        await response.body?.cancel();
        const what = `${init.method ?? "GET"} ${path}: ${response.status}`;
        assert.ok(isUnframed(response.headers), `${what} ${response.headers.get("Content-Security-Policy")}`);
        assert.equal(response.headers.get("X-Content-Type-Options"), "nosniff", what);
        assert.equal(response.headers.get("Referrer-Policy"), "strict-origin-when-cross-origin", what);
        seen.add(response.status);
        return response;
      };
      const credentials = JSON.stringify({ username: "reader", password: "stackroom-demo" });
      const posted = { method: "POST", headers: { Origin: HOST, "Content-Type": "application/json" } };
      const cookie = cookieOf(await look("/results/_login", { ...posted, body: credentials }));
      for (const headers of [{}, bearer, { Cookie: cookie }]) {
        for (const { path, method, body } of operations) {
          await look(path, { method, headers, body });
          if (body) await look(path, { method, headers, body: "{" });
        }
        for (const path of PAGES) {
          for (const method of ["GET", "HEAD", "POST", "DELETE"]) await look(path, { method, headers });
          await look(path, { headers: { ...headers, "If-None-Match": "*" } });
        }
      }
      const object = "/api/v1/buckets/b/objects/page.html";
      const login = { ...posted, headers: { Origin: "https://evil.example", "Content-Type": "application/json" } };
      await look("/results/_login", { ...login, body: credentials });
      await look("/results/_login", { ...posted, body: "x".repeat(20_000) });
      await look("/api/v1/presign", { method: "POST", headers: bearer, body: `"${"x".repeat(2 ** 20)}"` });
      await look(object, { method: "OPTIONS", headers: { Origin: HOST, "Access-Control-Request-Method": "PUT" } });
      await look("/api/v1/buckets/%ff/objects", { headers: bearer });
      await look("/healthz", { headers: { Host: "evil.example" } });
      answer(() => new Response("<p>", { status: 500, headers: { "Content-Type": "text/html" } }));
      await look(object, { headers: bearer });
      await look("/results/batch-default/b.html", { headers: { Cookie: cookie } });
      await look("/results/_logout", { method: "POST", headers: { Cookie: cookie, Origin: HOST } });
      for (const status of STATUSES[names]) assert.ok(seen.has(status), `nothing was ${status}: ${[...seen]}`);
    });
  });
}

/** What the requests above must come to, so that none of the answers is missed by a request that went astray. */
const STATUSES: Readonly<Record<string, readonly number[]>> = {
  gateway: [200, 201, 204, 302, 307, 400, 401, 404, 405, 413, 421, 422, 502],
  web: [200, 204, 304, 401, 403, 404, 405, 413, 421, 502],
  results: [200, 204, 401, 403, 404, 405, 413, 421, 502],
  "gateway web results": [200, 201, 204, 304, 307, 400, 401, 403, 404, 405, 413, 421, 422, 502],
};

Deno.test("headers: no page may frame a fault of ours, or an answer beyond the bounds", async () => {
  const identify = () => {
    throw new Error("broken");
  };
  await withGateway({ identify }, async ({ call }) => {
    const fault = await call("/api/v1/buckets");
    await fault.body?.cancel();
    assert.deepEqual([fault.status, isUnframed(fault.headers)], [500, true]);
  });
  await withGateway({ app: { maxRequests: 0 } }, async ({ call }) => {
    const busy = await call("/api/v1/buckets");
    await busy.body?.cancel();
    assert.deepEqual([busy.status, isUnframed(busy.headers)], [503, true]);
  });
});
