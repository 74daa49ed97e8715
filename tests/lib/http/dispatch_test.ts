import assert from "node:assert/strict";
import { z } from "zod";
import { httpApp, mount, routesOf } from "@/lib/http/app.ts";
import { type Method, publicOperation } from "@/lib/http/operation.ts";
import { NO_LOG } from "./no_log.ts";

/**
 * Mounts operations that return their id and parameters, and returns what sends a request: its result is that JSON, Allow of
 * a 405, or the status and Location of anything else.
 */
function mounted(params: z.ZodObject, routes: readonly (readonly [method: Method, path: string])[]) {
  const app = httpApp({ log: NO_LOG });
  mount(
    routesOf(app),
    routes.map(([method, path]) =>
      publicOperation({
        id: `${method} ${path}`,
        method,
        path,
        tag: "t",
        summary: "s",
        params,
        responses: {},
        handler: ({ params }, { operation }) => Response.json([operation, params]),
      })
    ),
  );
  return async (method: string, path: string) => {
    const response = await app.request(path, { method });
    if (response.status === 405) return response.headers.get("Allow");
    return response.status === 200 ? await response.json() : [response.status, response.headers.get("Location")];
  };
}

Deno.test("key routes: a literal beats a suffix beats the key, per method, and as=object forces the key", async () => {
  const asked = mounted(z.object({ b: z.string(), key: z.string().optional(), id: z.string().optional() }), [
    ["GET", "/x/{b}/o/{key}"],
    ["PUT", "/x/{b}/o/{key}"],
    ["POST", "/x/{b}/o/{key}/copy"],
    ["POST", "/x/{b}/o/delete"],
    ["GET", "/x/{b}/o/tasks/{id}"],
  ]);
  const ask = async (method: string, path: string) => {
    const [id, params] = await asked(method, path);
    return [id.replace("/x/{b}/o/", ""), params];
  };
  assert.deepEqual(await ask("POST", "/x/1/o/delete"), ["POST delete", { b: "1" }]);
  assert.deepEqual(await ask("GET", "/x/1/o/delete"), ["GET {key}", { b: "1", key: "delete" }]);
  assert.deepEqual(await ask("POST", "/x/1/o/a%2Fcopy"), ["POST {key}/copy", { b: "1", key: "a" }]);
  assert.deepEqual(await ask("PUT", "/x/1/o/a/copy"), ["PUT {key}", { b: "1", key: "a/copy" }]);
  assert.deepEqual(await ask("GET", "/x/1/o/tasks/7"), ["GET tasks/{id}", { b: "1", id: "7" }]);
  assert.deepEqual(await ask("GET", "/x/1/o/tasks/7?y=1&as=object"), ["GET {key}", { b: "1", key: "tasks/7" }]);
  assert.deepEqual(await ask("GET", "/x/1/o/tasks/7?as=%6fbject"), ["GET {key}", { b: "1", key: "tasks/7" }]);
  assert.deepEqual(await ask("GET", "/x/1/o/tasks/7?has=object"), ["GET tasks/{id}", { b: "1", id: "7" }]);
  assert.deepEqual(await ask("GET", "/x/1/o/tasks/%2f"), ["GET tasks/{id}", { b: "1", id: "/" }]);
  assert.deepEqual(await ask("GET", "/x/1/o/tasks/%ff"), ["GET tasks/{id}", { b: "1", id: "%ff" }]);
  assert.deepEqual(await ask("GET", "/x/1/o/tasks%2f7"), ["GET tasks/{id}", { b: "1", id: "7" }]);
  assert.deepEqual(await ask("GET", "/x/1/o/tasks%2f7%2f"), ["GET {key}", { b: "1", key: "tasks/7/" }]);
  assert.deepEqual(await ask("GET", "/x/1/o/tasks//"), ["GET {key}", { b: "1", key: "tasks//" }]);
  for (const [method, path] of [["GET", "tasks/%ff?as=object"], ["PUT", "tasks/%ff"]]) {
    assert.deepEqual(await asked(method, `/x/1/o/${path}`), [400, null]);
  }
  for (const [method, path] of [["POST", "a/copy?as=object"], ["POST", "a"], ["DELETE", "a"]]) {
    assert.equal(await asked(method, `/x/1/o/${path}`), "GET, PUT");
  }
  assert.deepEqual(await asked("GET", "/x/1/o/"), [404, null]);
});

Deno.test("key routes: an empty key is the path without the slash where keys are only read, else 404", async () => {
  const ask = mounted(z.object({ b: z.string(), key: z.string().optional() }), [
    ["GET", "/x/{b}/read"],
    ["GET", "/x/{b}/read/{key}"],
    ["GET", "/x/{b}/written"],
    ["GET", "/x/{b}/written/{key}"],
    ["PUT", "/x/{b}/written/{key}"],
    ["GET", "/x/{b}/alone/{key}"],
  ]);
  assert.deepEqual(await ask("GET", "/x/1/read"), ["GET /x/{b}/read", { b: "1" }]);
  assert.deepEqual(await ask("GET", "/x/1/read/?y=1"), [307, "/x/1/read?y=1"]);
  assert.deepEqual(await ask("GET", "/x/1/read//"), ["GET /x/{b}/read/{key}", { b: "1", key: "/" }]);
  assert.deepEqual(await ask("GET", "/x/1/read/a/"), ["GET /x/{b}/read/{key}", { b: "1", key: "a/" }]);
  assert.equal(await ask("PUT", "/x/1/read"), "GET");
  assert.equal(await ask("PUT", "/x/1/read/a"), "GET");
  for (const method of ["GET", "PUT"]) assert.deepEqual(await ask(method, "/x/1/written/"), [404, null]);
  for (const path of ["/x/1/alone", "/x/1/alone/"]) assert.deepEqual(await ask("GET", path), [404, null]);
});

Deno.test("operations: a literal beside a parameter has its own methods, both have their trailing slashes", async () => {
  const ask = mounted(z.object({ name: z.string().optional() }), [
    ["GET", "/x/{name}"],
    ["DELETE", "/x/{name}"],
    ["POST", "/x/export"],
    ["GET", "/x/{name}/export"],
    ["GET", "/x"],
  ]);
  assert.deepEqual(await ask("GET", "/x/a"), ["GET /x/{name}", { name: "a" }]);
  assert.deepEqual(await ask("POST", "/x/export"), ["POST /x/export", {}]);
  assert.equal(await ask("GET", "/x/export"), "POST");
  for (const method of ["GET", "POST"]) assert.deepEqual(await ask(method, "/x/%65xport"), [404, null]);
  assert.deepEqual(await ask("GET", "/x/a/%65xport"), [404, null]);
  assert.deepEqual(await ask("GET", "/x/%65xports"), ["GET /x/{name}", { name: "exports" }]);
  assert.equal(await ask("POST", "/x/a"), "DELETE, GET");
  assert.deepEqual(await ask("GET", "/x/exports"), ["GET /x/{name}", { name: "exports" }]);
  assert.deepEqual(await ask("GET", "/x/export/export"), ["GET /x/{name}/export", { name: "export" }]);
  assert.deepEqual(await ask("GET", "/x/export/"), [307, "/x/export"]);
  assert.deepEqual(await ask("GET", "/x/a/?y=1"), [307, "/x/a?y=1"]);
  assert.deepEqual(await ask("GET", "/x"), ["GET /x", {}]);
});
