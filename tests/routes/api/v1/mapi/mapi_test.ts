import assert from "node:assert/strict";
import { ownKeyIdentities } from "@/lib/auth/store_credentials.ts";
import { withGateway } from "@/tests/routes/gateway_fixture.ts";

const TENANTS = "/api/v1/mapi/tenants";
const NAMESPACES = `${TENANTS}/archive/namespaces`;

Deno.test("tenants: listed with the caller's header and all list parameters", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
    answer(() => Response.json({ name: ["a", "b"], extra: 1 }));
    const response = await call(
      `${TENANTS}?offset=1&count=2&sortType=name&sortOrder=desc&filterType=name&filterString=a%20b&verbose=YES&odd=1`,
    );
    assert.deepEqual(await response.json(), { name: ["a", "b"], extra: 1 });
    const [{ method, target, headers }] = seen;
    assert.equal(method, "GET");
    assert.equal(headers.get("authorization"), "HCP Y3VyYXRvcg==:2a9d119df47ff993b662a8ef36f9ea20");
    assert.equal(headers.get("accept"), "application/json");
    assert.equal(headers.get("content-type"), null);
    assert.equal(
      target,
      "/mapi/tenants?offset=1&count=2&sortType=name&sortOrder=descending&filterType=name&filterString=a%20b&verbose=true",
    );
    await (await call(TENANTS)).body?.cancel();
    assert.equal(seen[1].target, "/mapi/tenants?verbose=false");
    for (const query of ["verbose=maybe", "sortOrder=up", "offset=-1", "count=x"]) {
      const refused = await call(`${TENANTS}?${query}`);
      assert.equal(refused.status, 422, query);
      await refused.body?.cancel();
    }
  });
});

Deno.test("tenants: full records pass as an array, an empty answer has no names, nonsense is 502", async () => {
  await withGateway({}, async ({ call, answer }) => {
    const list = async (body: string) => {
      answer(() => new Response(body));
      const response = await call(TENANTS);
      return [response.status, await response.json()];
    };
    assert.deepEqual(await list('[{"name":"a"}]'), [200, [{ name: "a" }]]);
    assert.deepEqual(await list(""), [200, { name: null }]);
    assert.deepEqual(await list("not json"), [200, { name: null }]);
    assert.deepEqual(await list('{"name":5}'), [502, { detail: "tenants: the store's answer is not MAPI's" }]);
  });
});

Deno.test("mapi: every status of the store has its answer", async () => {
  await withGateway({}, async ({ call, answer }) => {
    const table: [number, number, string][] = [
      [302, 404, "tenants not found or no permission"],
      [400, 400, "why"],
      [401, 401, "HCP authentication failed"],
      [403, 403, "why"],
      [404, 404, "tenants not found"],
      [405, 405, "Method not allowed for this resource"],
      [409, 409, "tenants: why"],
      [414, 414, "Request URI too large"],
      [415, 415, "Unsupported media type"],
      [418, 502, "Unexpected HCP status 418: why"],
      [500, 502, "HCP internal error: why"],
      [503, 503, "HCP unavailable: why"],
      [507, 507, "tenants: why"],
    ];
    for (const [status, expected, detail] of table) {
      answer(() => new Response("body", { status, headers: { "X-HCP-ErrorMessage": "why" } }));
      const response = await call(TENANTS);
      assert.equal(response.status, expected);
      assert.deepEqual(await response.json(), { detail });
      assert.equal(response.headers.get("www-authenticate"), null);
    }
    answer(() => new Response("only a body with password=abc", { status: 403 }));
    assert.deepEqual(await (await call(TENANTS)).json(), { detail: "only a body with password=[redacted]" });
    answer(() => new Response("", { status: 403 }));
    assert.deepEqual(await (await call(TENANTS)).json(), { detail: "HCP returned 403" });
  });
});

Deno.test("namespaces: created from the members that are known, nulls left out; 409 when it exists", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
    answer(() => new Response("ignored"));
    const body = JSON.stringify({
      name: "notes",
      hardQuota: "5 GB",
      description: null,
      tags: { tag: ["x"] },
      versioningSettings: { enabled: true, prune: null },
      protocols: { http: {} },
    });
    const created = await call(NAMESPACES, { method: "PUT", body });
    assert.equal(created.status, 201);
    assert.deepEqual(await created.json(), { status: "created", name: "notes" });
    const [{ method, target, headers, body: sent }] = seen;
    assert.deepEqual([method, target], ["PUT", "/mapi/tenants/archive/namespaces"]);
    assert.equal(headers.get("content-type"), "application/json");
    assert.deepEqual(JSON.parse(sent), {
      name: "notes",
      hardQuota: "5 GB",
      tags: { tag: ["x"] },
      versioningSettings: { enabled: true },
    });
    answer(() => new Response("", { status: 409, headers: { "X-HCP-ErrorMessage": "exists" } }));
    const again = await call(NAMESPACES, { method: "PUT", body });
    assert.deepEqual([again.status, await again.json()], [409, { detail: "namespace: exists" }]);
    const refused = await call(NAMESPACES, { method: "PUT", body: '{"optimizedFor":"SPEED","softQuota":101}' });
    assert.equal(refused.status, 422);
    assert.deepEqual((await refused.json()).detail, [
      { type: "missing", loc: ["body", "name"], msg: "Field required" },
      {
        type: "less_than_equal",
        loc: ["body", "softQuota"],
        msg: "Input should be less than or equal to 100",
        ctx: { le: 100 },
        input: 101,
      },
      {
        type: "enum",
        loc: ["body", "optimizedFor"],
        msg: "Input should be 'CLOUD' or 'ALL'",
        ctx: { expected: "'CLOUD' or 'ALL'" },
        input: "SPEED",
      },
    ]);
  });
});

Deno.test("mapi: names in the path stay one segment", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
    answer(() => Response.json({ name: [] }));
    await (await call(`${TENANTS}/a%3Fb%23%25%2Fc%20d/namespaces`)).body?.cancel();
    assert.equal(seen[0].target, "/mapi/tenants/a%3Fb%23%25%2Fc%20d/namespaces?verbose=false");
    await (await call(`${TENANTS}/%252e%252e/namespaces`)).body?.cancel();
    assert.equal(seen[1].target, "/mapi/tenants/%252e%252e/namespaces?verbose=false");
  });
});

Deno.test("mapi: switched off it is not there, on a generic identity it is refused", async () => {
  await withGateway({ gateway: { mapiEnabled: false, backend: "minio" } }, async ({ call, app }) => {
    assert.equal((await call(TENANTS)).status, 404);
    assert.deepEqual(await (await app.request("/api/v1/capabilities")).json(), {
      mapi_enabled: false,
      storage_backend: "minio",
    });
    assert.equal((await app.request("/api/v1/buckets")).status, 401);
  });
  // Whatever signs towards S3, the management API is told who logged in.
  await withGateway({ identify: ownKeyIdentities("native") }, async ({ call, seen }) => {
    await (await call(TENANTS)).body?.cancel();
    assert.match(seen[0].headers.get("authorization") ?? "", /^HCP /);
  });
});

Deno.test("cors: removing rules that are not there does not say that the tenant is absent", async () => {
  await withGateway({}, async ({ call, answer }) => {
    answer(() => new Response("", { status: 404 }));
    for (const [path, what] of [["", "tenant 'archive'"], ["/namespaces/letters", "namespace 'letters'"]]) {
      const response = await call(`/api/v1/mapi/tenants/archive${path}/cors`, { method: "DELETE" });
      assert.deepEqual([response.status, await response.json()], [404, { detail: `CORS rules of ${what} not found` }]);
    }
  });
});
