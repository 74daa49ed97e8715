import assert from "node:assert/strict";
import { type Application, startApplication, STORAGE_ONLY } from "@/tests/application.ts";
import { endOfTask, type GatewayClient, logIn, taskEvents } from "./gateway_client.ts";

const OBJECTS = 3000;
const WRITERS = 16;
const PATH = "/buckets/tasks-outlive/objects";
const TRANSFER = "/buckets/tasks-outlive/transfer";

Deno.test({
  name:
    "whole application: a count, a move and a deletion go on after kill -9 with exact numbers, and only their owner sees them",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    const dataFolder = await Deno.makeTempDir({ prefix: "stackroom-tasks-" });
    let running: Application | null = null;
    try {
      const first = running = await startApplication({ dataFolder, env: STORAGE_ONLY });
      const curator = await logIn(first.site, "archive/curator");
      await curator.json("POST", "/buckets", { bucket: "tasks-outlive" });
      await fill(curator);
      const counting = await curator.json("POST", `${PATH}/s3_stats?prefix=a/`);
      await first.kill();

      const second = running = await startApplication({ dataFolder, env: STORAGE_ONLY });
      const again = await logIn(second.site, "archive/curator");
      const counted = await endOfTask(again, `${PATH}/s3_stats/${counting.task_id}`);
      assert.deepEqual([counted.status, counted.files, counted.bytes], ["ready", OBJECTS, OBJECTS]);
      const other = await logIn(second.site, "archive/reader");
      const foreign = await other.call("GET", `${PATH}/s3_stats/${counting.task_id}`);
      assert.deepEqual([foreign.status, await foreign.json()], [404, { detail: "Task not found" }]);

      const to = { bucket: "tasks-outlive", prefix: "m/" };
      const order = { mode: "move", prefixes: ["a/"], from: "a/", to, if_exists: "keep" };
      const moving = await again.json("POST", TRANSFER, order);
      for await (const { data } of taskEvents(again, `${TRANSFER}/${moving.task_id}`)) {
        if (Number(data.deleted) > 0) break;
      }
      await second.kill();

      const third = running = await startApplication({ dataFolder, env: STORAGE_ONLY });
      const mover = await logIn(third.site, "archive/curator");
      const moved = await endOfTask(mover, `${TRANSFER}/${moving.task_id}`);
      assert.deepEqual([moved.status, moved.done, moved.deleted, moved.renamed, moved.failed], [
        "done",
        OBJECTS,
        OBJECTS,
        0,
        0,
      ]);
      const sources = await mover.json("GET", `${PATH}?prefix=a/`);
      assert.equal(sources.key_count, 0);

      const deleting = await mover.json("POST", `${PATH}/delete-task`, { prefixes: ["m/"] });
      for await (const { data } of taskEvents(mover, `${PATH}/delete-task/${deleting.task_id}`)) {
        if (Number(data.deleted) > 0) break;
      }
      await third.kill();

      const fourth = running = await startApplication({ dataFolder, env: STORAGE_ONLY });
      const later = await logIn(fourth.site, "archive/curator");
      const { status, total, deleted, failed } = await endOfTask(later, `${PATH}/delete-task/${deleting.task_id}`);
      assert.deepEqual([status, total, deleted, failed], ["done", OBJECTS, OBJECTS, 0]);
      const left = await later.json("GET", PATH);
      assert.equal(left.key_count, 1);
    } finally {
      await running?.kill();
      await Deno.remove(dataFolder, { recursive: true });
    }
  },
});

/** Writes the objects that are counted and deleted, and one that stays. */
async function fill(client: GatewayClient): Promise<void> {
  let next = 0;
  await client.call("PUT", `${PATH}/b`, "x").then((response) => response.body?.cancel());
  await Promise.all(Array.from({ length: WRITERS }, async () => {
    while (next < OBJECTS) {
      assert.equal((await client.call("PUT", `${PATH}/a/${next++ % 7}/${next}`, "x")).status, 200);
    }
  }));
}
