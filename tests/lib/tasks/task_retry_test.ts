import assert from "node:assert/strict";
import { badGateway } from "@/lib/http/errors.ts";
import { LEASE_MS, RENEW_MS } from "@/lib/tasks/task.ts";
import { settle } from "./fake_clock.ts";
import { sceneTest, start, untilAborted } from "./task_scene.ts";

sceneTest("errors of the object store that may pass are retried from the last checkpoint", async (scene) => {
  const seen: number[] = [];
  const runner = scene.process(async (job) => {
    seen.push(job.progress.done);
    if (seen.length === 1) await job.checkpoint({ done: 4 });
    if (seen.length < 4) throw badGateway("S3 endpoint unreachable");
    return { done: 9 };
  });
  const id = await start(runner);
  await settle();
  assert.deepEqual(seen, [0]);
  await scene.clock.advance(1000);
  assert.deepEqual(seen, [0, 4]);
  await scene.clock.advance(2000 + 4000);
  assert.deepEqual([seen, (await scene.stored(id)).state], [[0, 4, 4, 4], "ready"]);
  await runner.stop();
});

sceneTest("after five minutes of such errors the task fails with the last one", async (scene) => {
  const runner = scene.process(() => Promise.reject(badGateway("S3 endpoint unreachable")));
  const id = await start(runner);
  await scene.clock.advance(299_000);
  assert.equal((await scene.stored(id)).state, "running");
  await scene.clock.advance(60_000);
  const { state, error } = await scene.stored(id);
  assert.deepEqual([state, error], ["failed", "S3 endpoint unreachable"]);
  await runner.stop();
});

sceneTest("a checkpoint of work that is repeated does not restart the five minutes", async (scene) => {
  const seen: number[] = [];
  const runner = scene.process(async (job) => {
    seen.push(job.progress.done);
    await job.checkpoint({ done: seen.length }, seen.length === 3 ? undefined : "partial");
    throw badGateway("S3 endpoint unreachable");
  });
  const id = await start(runner);
  await scene.clock.advance(1000 + 2000);
  assert.deepEqual(seen, [0, 1, 2], "each run sees the last of them");
  await scene.clock.advance(999);
  assert.equal(seen.length, 3);
  await scene.clock.advance(1);
  assert.equal(seen.length, 4, "a complete one restarts the waits");
  await scene.clock.advance(1999);
  assert.equal(seen.length, 4);
  await scene.clock.advance(1);
  assert.equal(seen.length, 5);
  await scene.clock.advance(300_000 - 3000 - 1);
  assert.equal((await scene.stored(id)).state, "running");
  await scene.clock.advance(60_000);
  assert.equal((await scene.stored(id)).state, "failed");
  await runner.stop();
});

sceneTest("a task that waits for a retry holds no slot, and runs at its time", async (scene) => {
  let isAway = true;
  const runs: string[] = [];
  const runner = scene.process(async (job) => {
    runs.push(job.caller.username);
    if (isAway && job.caller.username !== "eva") throw badGateway("S3 endpoint unreachable");
    if (job.caller.username === "eva") await untilAborted(job);
    return { done: 1 };
  });
  const away = [];
  for (const owner of ["alva", "alva", "alva", "alva", "bo", "bo", "bo", "bo", "bo"]) {
    away.push(await start(runner, owner));
  }
  await settle();
  const other = await start(runner, "eva");
  await settle();
  assert.deepEqual(runs.splice(0).slice(-1), ["eva"], "although nine others are not done");
  await scene.clock.advance(999);
  assert.deepEqual(runs, [], "a second is the first wait");
  await scene.clock.advance(1);
  assert.equal(runs.splice(0).length, 9);
  isAway = false;
  await scene.clock.advance(1999);
  assert.deepEqual(runs, []);
  await scene.clock.advance(1);
  assert.equal(runs.length, 9);
  for (const id of away) assert.equal((await scene.stored(id)).state, "ready");
  assert.equal((await scene.stored(other)).state, "running");
  await runner.stop();
});

sceneTest(
  "a task that waits for a retry can be cancelled, stopped, and outlives an outage of the task store",
  async (scene) => {
    let runs = 0;
    const runner = scene.process(async ({ caller: { username }, progress: { done }, checkpoint }) => {
      if (username === "alva") {
        runs++;
        if (done === 0) await checkpoint({ done: 3 }, "at once");
      }
      throw badGateway("S3 endpoint unreachable");
    });
    const id = await start(runner);
    const cancelled = await start(runner, "bo");
    await settle();
    await runner.cancel(cancelled);
    assert.equal((await scene.stored(cancelled)).state, "canceled");
    scene.isDown = true;
    // The lease runs out meanwhile, and so do several waits.
    await scene.clock.advance(LEASE_MS + RENEW_MS);
    const before = runs;
    await scene.clock.advance(60_000);
    assert.equal(runs, before, "nothing runs without the lease");
    scene.isDown = false;
    await scene.clock.advance(2 * RENEW_MS);
    assert.equal(runs, before + 1, "it goes on when the lease is renewed");
    await runner.stop();
    const { state, progress } = await scene.stored(id);
    assert.deepEqual([state, JSON.parse(progress)], ["running", { done: 3 }]);
    assert.equal((await scene.sqlite.claim("next", 1)).length, 1, "another process can go on at once");
  },
);

sceneTest("a process that has 64 tasks claims none until one ends, although all wait for a retry", async (scene) => {
  const runner = scene.process((job) =>
    job.caller.username === "eva" ? Promise.resolve({ done: 1 }) : Promise.reject(badGateway("unreachable"))
  );
  const waiting = [];
  for (let count = 0; count < 64; count++) waiting.push(await start(runner));
  await settle();
  const dead = scene.process(untilAborted);
  const id = await start(dead, "eva");
  await dead.stop();
  await scene.clock.advance(RENEW_MS);
  assert.equal((await scene.stored(id)).state, "running");
  await runner.cancel(waiting[0]);
  await scene.clock.advance(RENEW_MS);
  assert.equal((await scene.stored(id)).state, "ready");
  await runner.stop();
});
