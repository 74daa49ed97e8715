import assert from "node:assert/strict";
import { storeIdentities } from "@/lib/auth/store_credentials.ts";
import { FixitySchedules, parseScheduleFile } from "@/lib/tasks/fixity/schedules.ts";
import { PROCESS_CLOCK } from "@/lib/tasks/task_keys.ts";
import { TaskRunner } from "@/lib/tasks/task_runner.ts";
import { NOW, withGateway } from "@/tests/routes/gateway_fixture.ts";
import { KEYS, Scene } from "@/tests/lib/tasks/task_scene.ts";

const FILE = `
logins:
  curator: { username: curator, tenant: archive, password: p4ssw0rd }
  reader: { username: reader, tenant: archive, password: secret }
schedules:
  - { name: own, login: curator, bucket: letters, cron: "0 2 * * *" }
  - { name: other, login: reader, bucket: maps, cron: "0 2 * * *" }
`;

/** The schedules of a process without checks. */
function schedulesOf(file: string): FixitySchedules {
  const log = { write() {} };
  const s3 = null as never;
  const tasks = new TaskRunner({
    store: new Scene().store(),
    keys: KEYS,
    handlers: [],
    bounds: { maxPerOwner: 1, maxPerTenant: 1, max: 1 },
    clock: PROCESS_CLOCK,
    log,
  });
  return new FixitySchedules({
    schedules: parseScheduleFile(file),
    identify: storeIdentities("native"),
    s3,
    tasks,
    clock: PROCESS_CLOCK,
    now: () => NOW,
    log,
    onFailure: () => Promise.resolve(),
  });
}

Deno.test("fixity schedules: a failing management API hides those of others alone, and the list says that it is partial", () =>
  withGateway({ gateway: { schedules: schedulesOf(FILE) } }, async ({ answer, call, logged, storeOrigin }) => {
    const list = async () => {
      const response = await call("/api/v1/fixity/schedules");
      const { schedules, partial } = await response.json();
      return [response.status, schedules?.map(({ name }: { name: string }) => name), partial];
    };
    const administrator = { username: "curator", roles: { role: ["ADMINISTRATOR"] } };
    answer(() => Response.json(administrator));
    assert.deepEqual(await list(), [200, ["own", "other"], false]);
    answer(() => new Response(null, { status: 403 }));
    assert.deepEqual(await list(), [200, ["own"], false]);
    const warnings = () => logged().filter(({ level }) => level === "warn").map(({ message }) => String(message));
    assert.deepEqual(warnings(), []);
    for (const status of [500, 502, 503]) {
      answer(() => new Response("no", { status }));
      assert.deepEqual(await list(), [200, ["own"], true], String(status));
    }
    assert.equal(warnings().length, 3);
    for (const line of warnings()) {
      assert.match(line, /^fixity schedules of other accounts are not listed: /);
      assert.ok(!line.includes(storeOrigin) && !line.includes("p4ssw0rd"), line);
    }
  }));

Deno.test("fixity schedules: at the system level a failing management API is the response, since none of them is the caller's own", async () => {
  const refused = () => new Response("no", { status: 503 });
  const identify = storeIdentities("native");
  await withGateway({
    gateway: { schedules: schedulesOf(FILE) },
    identify: async (claims) => ({ ...await identify(claims), tenant: null }),
    answer: refused,
  }, async ({ call }) => {
    const response = await call("/api/v1/fixity/schedules");
    assert.ok(response.status >= 500, String(response.status));
    await response.body?.cancel();
  });
});
