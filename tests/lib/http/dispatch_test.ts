import assert from "node:assert/strict";
import { Hono } from "hono";
import { z } from "zod";
import { matchRest, mount } from "@/lib/http/dispatch.ts";
import type { HttpEnv } from "@/lib/http/env.ts";
import { envelope } from "@/lib/http/envelope.ts";
import { type Method, publicOperation } from "@/lib/http/operation.ts";

Deno.test("matchRest: keys, suffixes, literals and literals with a parameter", () => {
  assert.deepEqual(matchRest("{key}", "a/b/"), { key: "a/b/" });
  assert.deepEqual(matchRest("{key}/copy", "a/copy/copy"), { key: "a/copy" });
  assert.equal(matchRest("{key}/copy", "/copy"), null);
  assert.equal(matchRest("{key}", ""), null);
  assert.deepEqual(matchRest("delete", "delete"), {});
  assert.equal(matchRest("delete", "delete/x"), null);
  assert.deepEqual(matchRest("download/{task_id}", "download/7"), { task_id: "7" });
  assert.equal(matchRest("download/{task_id}", "download/"), null);
});

Deno.test("key routes: a literal beats a suffix beats the key, per method, and as=object forces the key", async () => {
  const app = new Hono<HttpEnv>();
  app.use(envelope());
  app.onError((error) =>
    new Response(JSON.stringify(error), { status: "status" in error ? Number(error.status) : 500 })
  );
  const params = z.object({ b: z.string(), key: z.string().optional(), id: z.string().optional() });
  const operation = (method: Method, rest: string) =>
    publicOperation({
      id: `${method} ${rest}`,
      method,
      path: `/x/{b}/o/${rest}`,
      tag: "t",
      summary: "s",
      params,
      responses: {},
      handler: ({ params }, c) => c.json([c.get("operation"), params]),
    });
  mount(app, [
    operation("GET", "{key}"),
    operation("PUT", "{key}"),
    operation("POST", "{key}/copy"),
    operation("POST", "delete"),
    operation("GET", "tasks/{id}"),
  ]);
  const ask = async (method: string, path: string) => {
    const response = await app.request(path, { method });
    return response.status === 200 ? await response.json() : response.status;
  };
  assert.deepEqual(await ask("POST", "/x/1/o/delete"), ["POST delete", { b: "1" }]);
  assert.deepEqual(await ask("GET", "/x/1/o/delete"), ["GET {key}", { b: "1", key: "delete" }]);
  assert.deepEqual(await ask("POST", "/x/1/o/a%2Fcopy"), ["POST {key}/copy", { b: "1", key: "a" }]);
  assert.deepEqual(await ask("PUT", "/x/1/o/a/copy"), ["PUT {key}", { b: "1", key: "a/copy" }]);
  assert.deepEqual(await ask("GET", "/x/1/o/tasks/7"), ["GET tasks/{id}", { b: "1", id: "7" }]);
  assert.deepEqual(await ask("GET", "/x/1/o/tasks/7?y=1&as=object"), ["GET {key}", { b: "1", key: "tasks/7" }]);
  assert.deepEqual(await ask("GET", "/x/1/o/tasks/7?as=%6fbject"), ["GET {key}", { b: "1", key: "tasks/7" }]);
  assert.deepEqual(await ask("GET", "/x/1/o/tasks/7?has=object"), ["GET tasks/{id}", { b: "1", id: "7" }]);
  assert.equal(await ask("POST", "/x/1/o/a/copy?as=object"), 405);
  assert.equal(await ask("POST", "/x/1/o/a"), 405);
  assert.equal(await ask("DELETE", "/x/1/o/a"), 405);
  assert.equal(await ask("GET", "/x/1/o/"), 404);
});
