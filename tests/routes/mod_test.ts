import assert from "node:assert/strict";
import { requestsOf } from "@/tests/routes/api/v1/mapi/schema_samples.ts";
import { gatewayTest, withGateway } from "./gateway_fixture.ts";

gatewayTest("request id: kept when harmless, else 32 hexadecimal digits, on every answer", async ({ app }) => {
  const id = async (path: string, given?: string) => {
    const response = await app.request(path, { headers: given === undefined ? {} : { "X-Request-ID": given } });
    return response.headers.get("X-Request-ID") ?? "";
  };
  assert.equal(await id("/liveness", "abc-1_2.3"), "abc-1_2.3");
  assert.equal(await id("/nothing", "x"), "x");
  for (const given of [undefined, "a b", "x".repeat(129), "å", ""]) {
    assert.match(await id("/api/v1/buckets", given), /^[0-9a-f]{32}$/);
  }
});

gatewayTest(
  "routing: unknown paths 404, wrong methods 405 with Allow, one trailing slash 307",
  async ({ app, call }) => {
    for (const path of ["/api/v1/nothing", "/api/v1/buckets//objects", "/x", "/api/v1/mapi/tenants//namespaces"]) {
      const response = await app.request(path);
      assert.equal(response.status, 404, path);
      assert.deepEqual(await response.json(), { detail: "Not Found" });
    }
    for (
      const [method, path, allow] of [
        ["PUT", "/api/v1/buckets", "GET, POST"],
        ["HEAD", "/api/v1/buckets", "GET, POST"],
        ["GET", "/api/v1/auth/token", "POST"],
        ["PATCH", "/api/v1/buckets/b/objects/k", "DELETE, GET, HEAD, POST, PUT"],
        ["POST", "/docs", "GET, HEAD"],
      ]
    ) {
      const response = await app.request(path, { method });
      assert.equal(response.status, 405, `${method} ${path}`);
      assert.equal(response.headers.get("Allow"), allow);
      if (method !== "HEAD") assert.deepEqual(await response.json(), { detail: "Method Not Allowed" });
    }
    const slash = await call("/api/v1/buckets/?x=%2F");
    assert.equal(slash.status, 307);
    assert.equal(slash.headers.get("location"), "/api/v1/buckets?x=%2F");
    assert.equal(
      (await app.request("/api/v1/buckets/b/", { method: "DELETE" })).headers.get("location"),
      "/api/v1/buckets/b",
    );
  },
);

Deno.test("cors: any origin without credentials, or the listed ones with; on gateway routes only", async () => {
  const Origin = "https://app.example.org";
  const preflight = {
    method: "OPTIONS",
    headers: { Origin, "Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "authorization" },
  };
  await withGateway({}, async ({ app }) => {
    const answer = await app.request("/api/v1/buckets/b/objects/k", preflight);
    assert.equal(answer.status, 204);
    assert.equal(answer.headers.get("Access-Control-Allow-Origin"), "*");
    assert.equal(answer.headers.get("Access-Control-Allow-Headers"), "authorization");
    assert.match(answer.headers.get("Access-Control-Allow-Methods") ?? "", /PUT/);
    const refused = await app.request("/api/v1/buckets", { headers: { Origin } });
    assert.equal(refused.status, 401);
    assert.equal(refused.headers.get("Cache-Control"), "private, no-store");
    assert.equal(refused.headers.get("Access-Control-Allow-Origin"), "*");
    assert.equal(refused.headers.get("Access-Control-Allow-Credentials"), null);
    assert.match(refused.headers.get("Access-Control-Expose-Headers") ?? "", /ETag/);
    const moved = await app.request("/api/v1/buckets/", { headers: { Origin } });
    assert.deepEqual([moved.status, moved.headers.get("Access-Control-Allow-Origin")], [307, "*"]);
    assert.equal((await app.request("/api/v1/buckets/", preflight)).status, 204);
    const health = await app.request("/healthz", { headers: { Origin } });
    assert.equal(health.headers.get("Access-Control-Allow-Origin"), null);
  });
  await withGateway({ gateway: { corsOrigins: [Origin] } }, async ({ app }) => {
    const listed = await app.request("/api/v1/capabilities", { headers: { Origin } });
    assert.equal(listed.headers.get("Access-Control-Allow-Origin"), Origin);
    assert.equal(listed.headers.get("Access-Control-Allow-Credentials"), "true");
    assert.match(listed.headers.get("Vary") ?? "", /Origin/);
    const other = await app.request("/api/v1/capabilities", { headers: { Origin: "https://evil.example.org" } });
    assert.equal(other.headers.get("Access-Control-Allow-Origin"), null);
    assert.equal(
      (await app.request("/api/v1/buckets", { ...preflight, headers: { ...preflight.headers, Origin: "null" } }))
        .status,
      405,
    );
  });
});

Deno.test("host: a foreign Host name is 421 where names are known", () =>
  withGateway({ app: { allowedHosts: ["127.0.0.1", "localhost", "[::1]"] } }, async ({ app, call }) => {
    assert.equal((await call("/healthz")).status, 200);
    const statuses = { "LOCALHOST:8000": 200, "[::1]:8000": 200, "evil.example.org": 421, "127.0.0.1.evil.org": 421 };
    for (const [Host, status] of Object.entries(statuses)) {
      assert.equal((await app.request("/healthz", { headers: { Host } })).status, status, Host);
    }
  }));

gatewayTest(
  "access log: one line per request, secrets out, probes silent",
  async ({ call, app, logged, answer, bearer }) => {
    answer(() => Response.json({ name: [] }));
    await app.request("/healthz");
    await app.request("/readyz");
    const query =
      "PassWord=hush1&ticket=hush2&x-amz-signature=hush3&p%61ssword=hush4&resetPasswords=hush5&filterString=ok&x=Bearer+hush6hush6";
    await (await call(`/api/v1/mapi/tenants?${query}`, { headers: { "X-Request-ID": "r1" } })).body?.cancel();
    await app.request("/api/v1/auth/token", {
      method: "POST",
      body: new URLSearchParams({ username: "t/u", password: "hush7" }),
    });
    await app.request(`/api/v1/nothing?x=${bearer.Authorization.slice(7)}`);
    const lines = logged();
    assert.equal(lines.length, 3);
    const [list, login, unknown] = lines;
    assert.equal(
      Object.keys(list).join(" "),
      "ts level request_id operation method path query user tenant client_ip status duration_ms",
    );
    const { request_id, operation, user, tenant, client_ip, status } = list;
    assert.equal(
      [request_id, operation, user, tenant, client_ip, status].join(" "),
      "r1 list_tenants curator archive 127.0.0.1 200",
    );
    assert.match(String(list.query), /^PassWord=\[redacted\]&.*filterString=ok&x=\[redacted\]$/);
    assert.deepEqual([login.operation, login.user, login.tenant], ["login", "u", "t"]);
    assert.equal(unknown.operation, null);
    const text = JSON.stringify(lines);
    assert.ok(!/hush|eyJ/.test(text), text);
  },
);

Deno.test("access log: each operation has the line of its own id, but for probes", () =>
  withGateway({ app: { maxRequests: 1000 } }, async ({ app, logged }) => {
    const requests = requestsOf(await (await app.request("/openapi.json")).json());
    assert.ok(requests.length > 120);
    for (const { id, path, method, body } of requests) {
      const response = await app.request(path, { method, body, headers: { "X-Request-ID": `of.${id}` } });
      await response.body?.cancel();
    }
    const lines = logged().filter(({ request_id }) => String(request_id).startsWith("of."));
    const expected = requests.filter(({ path }) => path.startsWith("/api/")).map(({ id }) => [`of.${id}`, id]);
    assert.deepEqual(lines.map(({ request_id, operation }) => [request_id, operation]), expected);
  }));

Deno.test("errors: an unexpected error is a 500 with the request id, its stack logged once without secrets", async () => {
  const identify = () => {
    throw new Error("broke at X-Amz-Signature=hush Authorization: HCP hushhush:hush");
  };
  await withGateway({ identify }, async ({ call, logged }) => {
    const response = await call("/api/v1/buckets", { headers: { "X-Request-ID": "r2" } });
    assert.equal(response.status, 500);
    assert.deepEqual(await response.json(), { detail: "Internal server error", request_id: "r2" });
    const errors = logged().filter(({ level }) => level === "error");
    assert.equal(errors.length, 1);
    assert.equal(errors[0].request_id, "r2");
    assert.match(String(errors[0].error), /broke at/);
    assert.ok(!String(errors[0].error).includes("hush"), String(errors[0].error));
  });
});

gatewayTest("bodies: broken JSON 422 with its place, above 1 MiB 413, no body a missing one", async ({ call }) => {
  const post = (body?: BodyInit) => call("/api/v1/presign", { method: "POST", body });
  const broken = await post('{"bucket": }');
  assert.equal(broken.status, 422);
  const [entry] = (await broken.json()).detail;
  assert.deepEqual([entry.type, entry.loc[0], entry.msg], ["json_invalid", "body", "JSON decode error"]);
  assert.equal(typeof entry.loc[1], "number");
  const bytes = await post(new Uint8Array([0x22, 0xff, 0x22]));
  assert.equal((await bytes.json()).detail[0].type, "json_invalid");
  const none = await post();
  assert.deepEqual(await none.json(), { detail: [{ type: "missing", loc: ["body"], msg: "Field required" }] });
  assert.equal((await post(`"${"x".repeat(1024 * 1024)}"`)).status, 413);
  assert.equal((await post(new Blob(["x".repeat(1024 * 1024 + 1)]).stream())).status, 413);
  assert.equal((await post("[".repeat(500_000) + "]".repeat(500_000))).status, 422);
});
