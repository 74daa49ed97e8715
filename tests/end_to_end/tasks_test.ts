import assert from "node:assert/strict";
import { forEachConcurrent } from "@/lib/std/concurrency.ts";
import { type Application, startApplication, STORAGE_ONLY } from "@/tests/application.ts";
import { endOfTask, type GatewayClient, logIn, taskEvents } from "./gateway_client.ts";

/** Objects that are moved: the kill comes behind the first of them. */
const MOVED = 600;
/** Objects that are counted and deleted: more than a page, so that both are killed between two. */
const DELETED = 1100;
const WRITERS = 16;
const PATH = "/buckets/tasks-outlive/objects";
const TRANSFER = "/buckets/tasks-outlive/transfer";

Deno.test("whole application: a count, a move and a deletion go on after kill -9 with exact numbers, and only their owner sees them", async () => {
  const dataFolder = await Deno.makeTempDir({ prefix: "stackroom-tasks-" });
  let running: Application | null = null;
  try {
    const first = running = await startApplication({ dataFolder, env: STORAGE_ONLY });
    const curator = await logIn(first.site, "archive/curator");
    await curator.json("POST", "/buckets", { bucket: "tasks-outlive" });
    await fill(curator);
    const to = { bucket: "tasks-outlive", prefix: "m/" };
    const order = { mode: "move", prefixes: ["a/"], from: "a/", to, if_exists: "keep" };
    const moving = await curator.json("POST", TRANSFER, order);
    assert.ok(await firstDeleted(curator, `${TRANSFER}/${moving.task_id}`) < MOVED);
    const counting = await curator.json("POST", `${PATH}/s3_stats?prefix=d/`);
    await first.kill();

    const second = running = await startApplication({ dataFolder, env: STORAGE_ONLY });
    const again = await logIn(second.site, "archive/curator");
    const counted = await endOfTask(again, `${PATH}/s3_stats/${counting.task_id}`);
    assert.deepEqual([counted.status, counted.files, counted.bytes], ["ready", DELETED, DELETED]);
    const other = await logIn(second.site, "archive/reader");
    const foreign = await other.call("GET", `${PATH}/s3_stats/${counting.task_id}`);
    assert.deepEqual([foreign.status, await foreign.json()], [404, { detail: "Task not found" }]);
    const moved = await endOfTask(again, `${TRANSFER}/${moving.task_id}`);
    assert.deepEqual([moved.status, moved.done, moved.deleted, moved.renamed, moved.failed], [
      "done",
      MOVED,
      MOVED,
      0,
      0,
    ]);
    const sources = await again.json("GET", `${PATH}?prefix=a/`);
    assert.equal(sources.key_count, 0);

    const deleting = await again.json("POST", `${PATH}/delete-task`, { prefixes: ["d/"] });
    assert.ok(await firstDeleted(again, `${PATH}/delete-task/${deleting.task_id}`) > 0);
    await second.kill();

    const third = running = await startApplication({ dataFolder, env: STORAGE_ONLY });
    const later = await logIn(third.site, "archive/curator");
    const { status, total, deleted, failed } = await endOfTask(later, `${PATH}/delete-task/${deleting.task_id}`);
    assert.deepEqual([status, total, deleted, failed], ["done", DELETED, DELETED, 0]);
    const left = await later.json("GET", `${PATH}?max_keys=1000`);
    assert.equal(left.key_count, MOVED + 1);
  } finally {
    await running?.kill();
    await Deno.remove(dataFolder, { recursive: true });
  }
});

/** How many objects a task has deleted when it first says that it has deleted any. */
async function firstDeleted(client: GatewayClient, path: string): Promise<number> {
  for await (const { data } of taskEvents(client, path)) {
    if (Number(data.deleted) > 0) return Number(data.deleted);
  }
  return 0;
}

/** Writes the objects that are moved, those that are counted and deleted, and one that stays. */
async function fill(client: GatewayClient): Promise<void> {
  const keys = ["b"];
  for (let n = 0; n < MOVED; n++) keys.push(`a/${n % 7}/${n}`);
  for (let n = 0; n < DELETED; n++) keys.push(`d/${n % 7}/${n}`);
  await forEachConcurrent(keys, WRITERS, async (key) => {
    const response = await client.call("PUT", `${PATH}/${key}`, "x");
    await response.body?.cancel();
    assert.equal(response.status, 200);
  });
}
