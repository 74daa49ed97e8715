import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { MAX_WRONG_PER_ACCOUNT } from "@/lib/auth/credential_memory.ts";
import { type Application, gatewayOf, startApplication } from "@/tests/application.ts";
import { startStore } from "@/embedded/tests/store/store_fixture.ts";
import { TEST_CA, TEST_CERTIFICATE, TEST_KEY } from "@/tests/lib/http/certificates.ts";
import { REDIS_PROGRAM, RedisServer } from "@/tests/redis_server.ts";
import { until } from "@/tests/until.ts";
import { logIn, resultsCookie } from "./gateway_client.ts";

const PASSWORD = "a/password:of@redis";

/** The state of the shared server as the probe of a running application shows it, once it is this one. */
async function shows(site: string, state: string): Promise<void> {
  await until(`the shared server is ${state}`, async () => {
    const response = await fetch(`${site}readyz`);
    const { ok, checks } = await response.json();
    assert.deepEqual([response.status, ok], [200, true], JSON.stringify(checks));
    return checks.shared_state === state || null;
  });
}

Deno.test("shared state: a start with REDIS_URL and TLS reaches it, and stays ready without it", {
  ignore: REDIS_PROGRAM === null,
}, async () => {
  const tls = { cert: TEST_CERTIFICATE, key: TEST_KEY };
  await using server = await RedisServer.start({ args: ["--requirepass", PASSWORD], tls });
  await Deno.writeTextFile(`${server.folder}/ca.pem`, TEST_CA);
  const address = `:${encodeURIComponent(PASSWORD)}@localhost:${server.port}/1`;
  const redis = { REDIS_URL: `rediss://${address}`, CA_FILE: `${server.folder}/ca.pem` };
  const application = await startApplication({ env: { EMBEDDED: "store", ROLES: "gateway", ...redis } });
  await shows(application.site, "reachable");
  await server.kill();
  await shows(application.site, "unreachable");
  await server.start();
  await shows(application.site, "reachable");
  assert.equal((await application.stop()).code, 0);
  const lines = application.output().split("\n").filter((line) => line.includes("Redis at "));
  assert.match(lines.join("\n"), /^.*Redis at localhost:\d+: the connection is lost.*\n.*Redis at .* is back.*$/);
  assert.ok(
    !application.output().includes(PASSWORD) && !application.output().includes(encodeURIComponent(PASSWORD)),
  );
});

/** Waits until a request gets this status, and no other than those before it. */
async function status(expected: number, before: number, request: () => Promise<Response>): Promise<Response> {
  return await until(`status ${expected}`, async () => {
    const response = await request();
    await response.body?.cancel();
    if (response.status === expected) return response;
    assert.equal(response.status, before);
    return null;
  });
}

async function list(site: string, password: string): Promise<Response> {
  return await (await logIn(site, "archive/curator", password)).call("GET", "/buckets");
}

function results(site: string, path: string, init: RequestInit = {}): Promise<Response> {
  return fetch(`${site}results/${path}`, { redirect: "manual", ...init });
}

function session(site: string, cookie: string): Promise<Response> {
  return results(site, "_session", { headers: { Cookie: cookie } });
}

async function logOut(site: string, cookie: string): Promise<void> {
  const response = await results(site, "_logout", {
    method: "POST",
    headers: { Cookie: cookie, Origin: new URL(site).origin },
  });
  assert.equal(response.status, 204, await response.text());
}

Deno.test("replicas: processes over one Redis count wrong passwords together, and end each other's sessions", {
  ignore: REDIS_PROGRAM === null,
}, async () => {
  await using server = await RedisServer.start({ args: ["--requirepass", "hushed/word"] });
  await using store = await startStore();
  await Deno.writeTextFile(`${server.folder}/session-key`, randomBytes(32).toString("base64"));
  const url = new URL(server.url);
  url.password = encodeURIComponent("hushed/word");
  const env = {
    ...gatewayOf(store.s3("archive")),
    ROLES: "gateway,results",
    TRUSTED_HOPS: "0",
    RESULTS_S3_ENDPOINT: store.s3("archive"),
    RESULTS_S3_BUCKET: "campaigns",
    RESULTS_SESSION_KEY_FILE: `${server.folder}/session-key`,
    CAMPAIGN_NAMESPACES: "batch-default",
    REDIS_URL: url.href,
  };
  const applications: Application[] = [];
  const start = async () => {
    applications.push(await startApplication({ env }));
    return applications.at(-1)!.site;
  };
  try {
    const [one, other] = [await start(), await start()];
    for (let n = 0; n < MAX_WRONG_PER_ACCOUNT; n++) {
      const response = await list(n % 2 ? one : other, `wrong ${n}`);
      assert.equal(response.status, 401, await response.text());
    }
    for (const site of [one, other]) {
      const { headers } = await status(429, 401, () => list(site, "right or wrong"));
      assert.ok(Number(headers.get("Retry-After")) > 0);
    }

    const [first, second] = [await resultsCookie(one), await resultsCookie(other)];
    for (const site of [one, other]) assert.equal((await session(site, first)).status, 200);
    await logOut(one, first);
    await status(401, 200, () => session(other, first));
    assert.equal((await session(one, second)).status, 200);

    await server.kill();
    await logOut(other, second);
    assert.equal((await session(other, second)).status, 401);
    assert.equal((await session(one, second)).status, 200);
    await server.start();
    await status(401, 200, () => session(one, second));
    const late = await start();
    for (const cookie of [first, second]) assert.equal((await session(late, cookie)).status, 401);
    for (const application of applications) assert.ok(!application.output().includes("hushed"));
  } finally {
    for (const application of applications) assert.equal((await application.stop()).code, 0);
  }
});
