import assert from "node:assert/strict";
import { addBelow, type App, defaultHeaders, httpApp, routesOf, serving } from "@/lib/http/app.ts";
import { HttpError } from "@/lib/http/errors.ts";
import type { Middleware } from "@/lib/http/request_context.ts";
import { NO_LOG } from "./no_log.ts";

/** An app whose routes return their own pattern. */
function appOf(...patterns: string[]): App {
  const app = httpApp({ log: NO_LOG });
  const add = routesOf(app);
  for (const pattern of patterns) {
    if (pattern.endsWith("/…")) addBelow(add, pattern.slice(0, -1), () => new Response(pattern));
    else add(pattern, () => new Response(pattern));
  }
  return app;
}

/** What an app returns for a path that no URL parser has seen. */
async function at(app: App, path: string, method = "GET"): Promise<string> {
  const response = await app.request("/", { method }, { target: { path, query: "" } });
  return response.status === 200 ? await response.text() : String(response.status);
}

Deno.test("app: literals before wildcards, parameters are one segment, and the rest is what follows a slash", async () => {
  const app = appOf("/", "/a", "/a/", "/a/:x/b", "/a/:x/k/…", "/api/v1/*", "*");
  const cases: readonly (readonly [path: string, pattern: string])[] = [
    ["/", "/"],
    ["/a", "/a"],
    ["/a/", "/a/"],
    ["/a/1", "*"],
    ["/a/1/b", "/a/:x/b"],
    ["/a/1/k/x/y/", "/a/:x/k/…"],
    ["/a/1/k/", "/a/:x/k/…"],
    ["/a/1/k//", "/a/:x/k/…"],
    ["/a/1/k/\n", "/a/:x/k/…"],
    ["/a/1/k", "*"],
    ["/a//b", "*"],
    ["/a/1/b/", "*"],
    ["/api/v1/x", "/api/v1/*"],
    ["/api/v1/", "/api/v1/*"],
    ["/api/v1", "/api/v1/*"],
    ["/api/v1x", "*"],
    ["/A", "*"],
    ["/%61", "*"],
    ["/a%2F1", "*"],
    ["/a/%zz/b", "/a/:x/b"],
    ["/a/../b", "/a/:x/b"],
    ["/a/%2e%2e/b", "/a/:x/b"],
    ["/__proto__", "*"],
    ["//", "*"],
    ["/" + "/".repeat(60_000), "*"],
  ];
  for (const [path, pattern] of cases) assert.equal(await at(app, path), pattern, path.slice(0, 80));
  for (const method of ["POST", "PATCH", "OPTIONS", "PROPFIND", "__proto__"]) {
    assert.equal(await at(app, "/a", method), "/a");
  }
  assert.equal(await at(appOf("/a"), "/b"), "404");
  assert.equal(await at(appOf("/:x"), "/"), "404");
});

Deno.test("app: middleware sees the responses that errors and unknown paths become", async () => {
  const app = httpApp({ log: NO_LOG });
  const statuses: number[] = [];
  app.use(defaultHeaders);
  app.use(async (c, next) => {
    await next();
    statuses.push(c.res.status);
  });
  const refusing: Middleware = () => {
    throw new HttpError(503, "full");
  };
  routesOf(app, refusing)("/refused", () => new Response("x"));
  routesOf(app)("/throws", () => {
    throw new HttpError(418, "short");
  });
  routesOf(app)("/fault", () => Promise.reject(new TypeError("secret")));
  for (const [path, status] of [["/refused", 503], ["/throws", 418], ["/fault", 500], ["/none", 404]] as const) {
    const response = await app.request(path, { headers: { "X-Request-ID": "a-1" } });
    assert.equal(response.status, status);
    assert.equal(response.headers.get("X-Request-ID"), "a-1");
    assert.equal(response.headers.get("X-Content-Type-Options"), "nosniff");
    assert.doesNotMatch(await response.text(), /secret/);
  }
  assert.deepEqual(statuses, [503, 418, 500, 404]);
});

Deno.test("app: a HEAD reaches its handler as such, and its response says the length of the body that it leaves out", async () => {
  const app = httpApp({ log: NO_LOG });
  app.use(defaultHeaders);
  const add = routesOf(app);
  add("/short", ({ method }) => new Response(`${method} åäö`, { status: 203, headers: { ETag: '"e"' } }));
  let isCancelled = false;
  const body = () => new ReadableStream({ cancel: () => void (isCancelled = true) });
  add("/long", () => new Response(body(), { headers: { "Content-Length": "5000000000" } }));
  const short = await app.request("/short", { method: "HEAD" });
  assert.deepEqual([short.status, short.body, short.headers.get("Content-Length")], [203, null, "11"]);
  assert.equal(short.headers.get("ETag"), '"e"');
  const long = await app.request("/long", { method: "HEAD" });
  assert.deepEqual([long.body, long.headers.get("Content-Length"), isCancelled], [null, "5000000000", true]);
});

Deno.test("app: as servers call it, a HEAD has no body whatever its handler returns, and other methods have theirs", async () => {
  const serve = serving(appOf("/text"));
  const read = async (method: string) => {
    const { status, body } = await serve(new Request("http://stackroom.example/text", { method }));
    return [status, body === null ? null : await new Response(body).text()];
  };
  assert.deepEqual(await read("HEAD"), [200, null]);
  assert.deepEqual(await read("GET"), [200, "/text"]);
});
