import assert from "node:assert/strict";
import type { ActiveTasks } from "@/lib/tasks/task_responses.ts";
import { type Application, startProcess, STORAGE_ONLY } from "@/tests/application.ts";
import { REDIS_PROGRAM, RedisServer } from "@/tests/redis_server.ts";
import { runTask } from "@/tests/task.ts";
import { until } from "@/tests/until.ts";
import { accountOf, type GatewayClient, logIn } from "./gateway_client.ts";

const SLOWEST = 65_536;
const PASSWORD = "Secret-of-the-test-1";

const tasksOf = async (client: GatewayClient) => (await client.json("GET", "/tasks")).tasks as ActiveTasks["tasks"];

/** Starts checks that take minutes. @returns how many were accepted */
async function fill(client: GatewayClient, bucket: string, count: number): Promise<number> {
  let accepted = 0;
  for (let n = 0; n < count; n++) {
    const response = await client.call("POST", `/buckets/${bucket}/fixity`, { rate: SLOWEST });
    await response.body?.cancel();
    assert.ok([202, 429].includes(response.status), String(response.status));
    accepted += Number(response.status === 202);
  }
  return accepted;
}

/** A bucket with an object that takes two minutes at the slowest rate. */
async function filledBucket(owner: GatewayClient, bucket: string): Promise<void> {
  await owner.json("POST", "/buckets", { bucket });
  await owner.json("PUT", `/buckets/${bucket}/objects/a`, new Uint8Array(8 * 1024 * 1024));
}

async function addReader(curator: GatewayClient, name: string, bucket: string, site: string): Promise<GatewayClient> {
  const users = "/mapi/tenants/archive/userAccounts";
  await curator.json("PUT", `${users}?password=${PASSWORD}`, accountOf(name));
  await curator.json("POST", `${users}/${name}/dataAccessPermissions`, {
    namespacePermission: [{ namespaceName: bucket, permissions: { permission: ["BROWSE", "READ"] } }],
  });
  return await logIn(site, `archive/${name}`, PASSWORD);
}

for (const redis of [false, true]) {
  Deno.test(
    `whole application: a tenant that fills its tasks stops no other, and administrators and operators end them, ${
      redis ? "in Redis" : "in a file"
    }`,
    { ignore: redis && REDIS_PROGRAM === null },
    async () => {
      await using stack = new AsyncDisposableStack();
      const dataFolder = await Deno.makeTempDir({ prefix: "stackroom-tenants-" });
      stack.defer(() => Deno.remove(dataFolder, { recursive: true }));
      const shared: Record<string, string> = redis ? { REDIS_URL: stack.use(await RedisServer.start()).url } : {};
      const env = { ...STORAGE_ONLY, MAX_TASKS: "80", ...shared };
      const running: Application = await startProcess({ dataFolder, env });
      stack.defer(() => running.stop().then(() => {}));
      const { site } = running;
      const [curator, researcher, system] = [
        await logIn(site, "archive/curator"),
        await logIn(site, "research/researcher"),
        await logIn(site, "admin"),
      ];
      await filledBucket(curator, "letters-of-many");
      await filledBucket(researcher, "papers-of-one");
      const readers = [];
      for (const name of ["anna", "bo", "cilla"]) {
        readers.push(await addReader(curator, name, "letters-of-many", site));
      }
      let accepted = 0;
      for (const reader of readers) accepted += await fill(reader, "letters-of-many", 10);
      assert.equal(accepted, 20, "a quarter of all tasks");
      assert.equal(await fill(researcher, "papers-of-one", 2), 2);

      assert.equal((await tasksOf(curator)).length, 20);
      assert.equal((await tasksOf(system)).length, 22);
      assert.equal((await tasksOf(readers[2])).length, 0);
      const [first, second] = await tasksOf(curator);
      const foreign = await researcher.call("POST", `/tasks/${first.id}/cancel`);
      assert.deepEqual([foreign.status, await foreign.json()], [404, { detail: "Task not found" }]);
      await curator.json("POST", `/tasks/${first.id}/cancel`);

      const listed = await runTask("tasks", dataFolder, [], [], { ...shared, ...env });
      assert.equal(listed.code, 0, listed.output);
      assert.match(listed.output, new RegExp(`${second.id} +fixity +running +archive +anna +letters-of-many +20`));
      const canceled = await runTask("tasks", dataFolder, ["cancel", second.id], [], { ...shared, ...env });
      assert.equal(canceled.code, 0, canceled.output);
      await until("both are over", async () => {
        const ids = (await tasksOf(curator)).map(({ id }) => id);
        return ids.includes(first.id) || ids.includes(second.id) ? null : true;
      });

      // The rest does not depend on where tasks are stored.
      if (redis) return;
      for (const args of [["cancel"], ["cancel", "x"], ["other"]]) {
        assert.equal((await runTask("tasks", dataFolder, args, [], { ...shared, ...env })).code, 1, args.join(" "));
      }
      await curator.json("POST", "/mapi/tenants/archive/userAccounts/anna", { enabled: false });
      await until("the tasks of the disabled account are over", async () => {
        const left = (await tasksOf(curator)).filter(({ account }) => account === "anna");
        return left.length === 0 || null;
      });
      assert.equal((await tasksOf(curator)).filter(({ account }) => account === "bo").length, 10);
    },
  );
}
