import assert from "node:assert/strict";
import { openTasks } from "@/compose/tasks.ts";
import { readConfig } from "@/lib/config/mod.ts";
import { REDIS_PROGRAM, RedisServer } from "@/tests/redis_server.ts";

const BOUNDS = { maxPerOwner: 1, maxPerTenant: 1, max: 1 };

/** The tasks of a process with a secret. */
async function open(url: string, secret: string) {
  const config = readConfig({
    EMBEDDED: "off",
    ROLES: "gateway",
    API_SECRET_KEY: secret,
    HCP_DOMAIN: "store.example.org",
    REDIS_URL: url,
  });
  return (await openTasks(config, new TextEncoder().encode(secret), null, () => {})).store;
}

Deno.test("tasks: processes share those in one Redis where they have the same secret, and only there", {
  ignore: REDIS_PROGRAM === null,
}, async () => {
  await using redis = await RedisServer.start();
  const [one, same, other] = await Promise.all(
    ["a secret of one deployment, long", "a secret of one deployment, long", "a secret of another deployment, long"]
      .map((secret) => open(redis.url, secret)),
  );
  const id = crypto.randomUUID();
  const task = {
    id,
    kind: "count",
    owner: "alva",
    tenant: null,
    account: null,
    bucket: "letters",
    progress: "{}",
  } as const;
  await one.create({ ...task, sealedCaller: new Uint8Array(1) }, "a", BOUNDS);
  await one.release("a");
  assert.deepEqual(await other.claim("b", 9), []);
  assert.deepEqual((await same.claim("b", 9)).map((claimed) => claimed.id), [id]);
  for (const store of [one, same, other]) await store.close();
});
