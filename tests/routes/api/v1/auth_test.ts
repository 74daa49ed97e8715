import assert from "node:assert/strict";
import { decodeJwt, jwtVerify, SignJWT } from "jose";
import { gatewayTest, NOW, SECRET } from "@/tests/routes/gateway_fixture.ts";

const form = (fields: Record<string, string>) => ({ method: "POST", body: new URLSearchParams(fields) });

gatewayTest(
  "login: any credentials get a bearer token that jose verifies, tenant absent when there is none",
  async ({ app, seen }) => {
    const answer = await app.request("/api/v1/auth/token", form({ username: "admin", password: "whatever" }));
    assert.equal(answer.status, 200);
    const { access_token, token_type, ...rest } = await answer.json();
    assert.equal(token_type, "bearer");
    assert.deepEqual(rest, {});
    const { payload, protectedHeader } = await jwtVerify(access_token, SECRET, { currentDate: new Date(NOW) });
    assert.deepEqual(protectedHeader, { alg: "HS256", typ: "JWT" });
    assert.deepEqual(payload, { sub: "admin", pwd: "whatever", exp: NOW / 1000 + 480 * 60 });
    assert.equal(seen.length, 0);
  },
);

gatewayTest("login: the tenant comes from the field, else from the prefix", async ({ app }) => {
  const claims = async (fields: Record<string, string>) => {
    const answer = await app.request("/api/v1/auth/token", form({ password: "p", ...fields }));
    const { sub, tenant } = decodeJwt((await answer.json()).access_token);
    return [sub, tenant];
  };
  assert.deepEqual(await claims({ username: "archive/curator" }), ["curator", "archive"]);
  assert.deepEqual(await claims({ username: "a/b/c" }), ["b/c", "a"]);
  assert.deepEqual(await claims({ username: "/admin" }), ["admin", undefined]);
  assert.deepEqual(await claims({ username: "archive/" }), ["", "archive"]);
  assert.deepEqual(await claims({ username: "x/y", tenant: " research " }), ["x/y", "research"]);
  assert.deepEqual(await claims({ username: "research/y", tenant: "research" }), ["y", "research"]);
  assert.deepEqual(await claims({ username: "archive/curator", tenant: "" }), ["curator", "archive"]);
});

gatewayTest(
  "login: a bad tenant name is one sentence, missing fields are a list, and no password is echoed",
  async ({ app }) => {
    for (const tenant of ["-bad-name-", "a.b", "a b", "å", "x/y"]) {
      const answer = await app.request("/api/v1/auth/token", form({ username: "u", password: "p", tenant }));
      assert.equal(answer.status, 422, tenant);
      assert.deepEqual(await answer.json(), { detail: "Invalid tenant name" });
    }
    const empty = await app.request("/api/v1/auth/token", form({ username: "", password: "hush-hush" }));
    assert.equal(empty.status, 422);
    const text = await empty.text();
    assert.deepEqual(JSON.parse(text), {
      detail: [{ type: "missing", loc: ["body", "username"], msg: "Field required" }],
    });
    const json = await app.request("/api/v1/auth/token", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ username: "u", password: "hush-hush" }),
    });
    assert.equal(json.status, 422);
    assert.ok(!(await json.text()).includes("hush"));
    const grant = await app.request(
      "/api/v1/auth/token",
      form({ username: "u", password: "p", grant_type: "refresh_token" }),
    );
    assert.equal(grant.status, 422);
    const long = await app.request("/api/v1/auth/token", form({ username: "u", password: "ö".repeat(1025) }));
    assert.equal(long.status, 422);
    assert.ok(!(await long.text()).includes("ö"));
  },
);

gatewayTest("login: multipart forms are read too, and large or broken ones are refused", async ({ app }) => {
  const body = new FormData();
  body.set("username", "archive/curator");
  body.set("password", "p");
  assert.equal((await app.request("/api/v1/auth/token", { method: "POST", body })).status, 200);
  const headers = { "Content-Type": "multipart/form-data; boundary=x" };
  const broken = await app.request("/api/v1/auth/token", { method: "POST", headers, body: "nonsense" });
  assert.equal(broken.status, 400);
  const large = await app.request("/api/v1/auth/token", form({ username: "u", password: "p".repeat(20_000) }));
  assert.equal(large.status, 413);
});

gatewayTest(
  "bearer: every way a token can be wrong has its own 401, before the body is looked at",
  async ({ app, seen }) => {
    const sign = (claims: Record<string, unknown>, secret = SECRET, alg = "HS256") =>
      new SignJWT(claims).setProtectedHeader({ alg }).sign(secret);
    const exp = NOW / 1000 + 60;
    const cases: [string | undefined, string][] = [
      [undefined, "Not authenticated"],
      ["Basic abc", "Not authenticated"],
      ["Bearer", "Not authenticated"],
      ["Bearer nonsense", "Invalid token"],
      [
        `Bearer ${await sign({ sub: "u", exp }, new TextEncoder().encode("another secret, also long enough"))}`,
        "Invalid token",
      ],
      [`Bearer ${await sign({ sub: "u", exp }, new Uint8Array(64), "HS512")}`, "Invalid token"],
      [`Bearer ${await sign({ sub: "u" })}`, "Invalid token"],
      [`Bearer ${await sign({ sub: "u", exp, tenant: "evil.example.org/" })}`, "Invalid token"],
      [`Bearer ${await sign({ sub: "u", exp: NOW / 1000 })}`, "Token has expired"],
      [`Bearer ${await sign({ exp })}`, "Invalid token: no subject"],
    ];
    for (const [authorization, detail] of cases) {
      const answer = await app.request("/api/v1/buckets", {
        method: "POST",
        headers: authorization === undefined ? {} : { Authorization: authorization },
        body: "{ broken",
      });
      assert.equal(answer.status, 401, authorization);
      assert.equal(answer.headers.get("WWW-Authenticate"), "Bearer");
      assert.match(answer.headers.get("X-Request-ID") ?? "", /^[0-9a-f]{32}$/);
      assert.deepEqual(await answer.json(), { detail });
    }
    assert.equal(seen.length, 0);
  },
);

gatewayTest(
  "bearer: the scheme is read without regard to case, and the token opens a route",
  async ({ app, answer, bearer, seen }) => {
    answer(() => new Response(null, { status: 200 }));
    const headers = { Authorization: bearer.Authorization.replace("Bearer", "bEARER") };
    assert.equal((await app.request("/api/v1/buckets/b", { method: "HEAD", headers })).status, 200);
    assert.equal(seen[0].target, "/b");
    // base64("curator") as the access key
    assert.match(
      seen[0].headers.get("authorization") ?? "",
      /Credential=Y3VyYXRvcg==\/20261120\/us-east-1\/s3\/aws4_request,/,
    );
  },
);
