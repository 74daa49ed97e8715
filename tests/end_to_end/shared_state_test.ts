import assert from "node:assert/strict";
import { startApplication } from "@/tests/application.ts";
import { REDIS_PROGRAM, RedisServer } from "@/tests/redis_server.ts";
import { TEST_CA, TEST_CERTIFICATE, TEST_KEY } from "@/tests/lib/http/certificates.ts";
import { until } from "@/tests/until.ts";

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

for (const tls of [null, { cert: TEST_CERTIFICATE, key: TEST_KEY }]) {
  Deno.test({
    name: `shared state: a start with REDIS_URL${tls ? " and TLS" : ""} reaches it, and stays ready without it`,
    ignore: REDIS_PROGRAM === null,
    async fn() {
      await using server = await RedisServer.start({ args: ["--requirepass", PASSWORD], tls: tls ?? undefined });
      await Deno.writeTextFile(`${server.folder}/ca.pem`, TEST_CA);
      const address = `:${encodeURIComponent(PASSWORD)}@localhost:${server.port}/1`;
      const redis: Record<string, string> = tls
        ? { REDIS_URL: `rediss://${address}`, CA_FILE: `${server.folder}/ca.pem` }
        : { REDIS_URL: `redis://${address}` };
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
    },
  });
}
