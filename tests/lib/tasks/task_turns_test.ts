import assert from "node:assert/strict";
import { credentialsRefused } from "@/lib/http/errors.ts";
import type { Job } from "@/lib/tasks/task_keys.ts";
import type { TaskRunner } from "@/lib/tasks/task_runner.ts";
import { settle } from "./fake_clock.ts";
import { caller, COUNT, type Counted, type Scene, sceneTest, start, untilAborted } from "./task_scene.ts";

const LONG = { ...COUNT, kind: "fixity" } as const;

const startLong = (runner: TaskRunner, username: string, tenant?: string) =>
  runner.create(LONG, { caller: caller(username, tenant), bucket: "letters", progress: { done: 0 } });

/** One step of long work, s. */
const STEP = 5;

/** Long work that counts seconds without an end, and what was seen of it. */
function seconds(scene: Scene) {
  /** Runs that have not ended, and how many there were at most. */
  const runs = { open: 0, most: 0 };
  /** How often each owner's work began. */
  const begun = new Map<string, number>();
  /** Seconds of work by owner. */
  const worked = new Map<string, number>();
  const active = new Set<string>();
  const add = (counts: Map<string, number>, name: string, by = 1) => counts.set(name, (counts.get(name) ?? 0) + by);
  const work = async (job: Job<Counted>): Promise<Counted> => {
    const { username } = job.caller;
    add(begun, username);
    runs.most = Math.max(runs.most, ++runs.open);
    try {
      for (let done = job.progress.done;; done += STEP) {
        active.delete(job.id);
        await job.yieldTurn();
        active.add(job.id);
        assert.ok(active.size <= 2, "slots of long tasks");
        await job.checkpoint({ done });
        add(worked, username, STEP);
        await scene.clock.sleep(STEP * 1000, job.signal);
        job.signal.throwIfAborted();
      }
    } finally {
      active.delete(job.id);
      runs.open--;
    }
  };
  return { work, runs, begun, worked };
}

const BOUNDS = { maxPerOwner: 100, maxPerTenant: 100, max: 100 };

sceneTest(
  "two long tasks give up their slots after a minute where another owner's waits, and lose nothing",
  async (scene) => {
    const { work, begun, worked } = seconds(scene);
    const runner = scene.process(work, BOUNDS, LONG);
    const ids = [await startLong(runner, "alva"), await startLong(runner, "bo")];
    await scene.clock.advance(300_000);
    assert.deepEqual([worked.get("alva"), worked.get("bo")], [305, 305], "nobody else waits");
    ids.push(await startLong(runner, "eva"));
    await scene.clock.advance(STEP * 1000);
    assert.ok((worked.get("eva") ?? 0) > 0, "their minute was over");
    await scene.clock.advance(600_000);
    assert.deepEqual([...begun.values()], [1, 1, 1], "each goes on where it was");
    for (const [n, username] of ["alva", "bo", "eva"].entries()) {
      const since = (worked.get(username) ?? 0) - (n < 2 ? 305 : 0);
      assert.ok(since >= 360 && since <= 450, `${username} has two thirds of the time: ${since} s of 600`);
      await runner.stop();
      assert.equal(JSON.parse((await scene.stored(ids[n])).progress).done, (worked.get(username) ?? 0) - STEP);
    }
  },
);

sceneTest("an owner has one slot of long tasks, however many wait, and others have their turns", async (scene) => {
  const { work, begun, worked } = seconds(scene);
  const runner = scene.process(work, BOUNDS, LONG);
  for (let n = 0; n < 9; n++) await startLong(runner, "alva");
  await scene.clock.advance(120_000);
  assert.deepEqual([begun.get("alva"), worked.get("alva")], [1, 125]);
  for (const username of ["bo", "eva", "ida"]) await startLong(runner, username);
  await scene.clock.advance(1_200_000);
  for (const username of ["bo", "eva", "ida"]) {
    const share = worked.get(username) ?? 0;
    assert.ok(share >= 540 && share <= 700, `${username}: ${share} s of 1200`);
  }
  await runner.stop();
});

sceneTest("the owners of a tenant have turns as one beside another tenant's", async (scene) => {
  const { work, worked } = seconds(scene);
  const runner = scene.process(work, BOUNDS, LONG);
  for (let n = 0; n < 6; n++) await startLong(runner, `owner${n}`);
  await startLong(runner, "researcher", "research");
  await scene.clock.advance(66_000);
  assert.ok((worked.get("researcher") ?? 0) > 0, "it has the first slot that is given up");
  await scene.clock.advance(1_200_000);
  assert.ok((worked.get("researcher") ?? 0) >= 500, `${worked.get("researcher")} s of 1260`);
  for (let n = 0; n < 6; n++) assert.ok((worked.get(`owner${n}`) ?? 0) >= 120, `owner${n}`);
  await runner.stop();
});

sceneTest(
  "few runs wait in memory for their turn, others go on from their checkpoint and are counted once",
  async (scene) => {
    const { work, runs, worked } = seconds(scene);
    const runner = scene.process(work, BOUNDS, LONG);
    const ids: string[] = [];
    for (let n = 0; n < 14; n++) ids.push(await startLong(runner, `owner${n}`));
    await scene.clock.advance(1_800_000);
    assert.ok(runs.most <= 11, `${runs.most} runs at a time`);
    await runner.stop();
    for (const [n, id] of ids.entries()) {
      const { done } = JSON.parse((await scene.stored(id)).progress);
      const share = worked.get(`owner${n}`) ?? 0;
      assert.ok(share >= 120, `owner${n}: ${share} s`);
      // A run that begins anew does the step of its checkpoint again.
      assert.ok(done <= share && done >= share - 20 * STEP, `owner${n}: ${done} of ${share}`);
    }
  },
);

sceneTest("a long task that waits for its turn holds no reads, and ends when it is cancelled", async (scene) => {
  const held = Promise.withResolvers<void>();
  const runner = scene.process(
    async (job) => {
      const reads = Array.from({ length: 10 }, () => job.read(() => held.promise));
      for (const read of reads) read.catch(() => {});
      for (;;) {
        await job.yieldTurn();
        await scene.clock.sleep(1000, job.signal);
        job.signal.throwIfAborted();
      }
    },
    BOUNDS,
    LONG,
  );
  const first = await startLong(runner, "alva");
  await startLong(runner, "bo");
  await settle();
  const others = Array.from({ length: 3 }, () => runner.reads.enter("other"));
  let entered = 0;
  for (const other of others) other.then(() => entered++);
  await settle();
  assert.equal(entered, 1, "the reads of both tasks fill the slots");
  await startLong(runner, "eva");
  await scene.clock.advance(61_000);
  assert.equal(entered, 3, "one of them waits for its turn");
  assert.equal(runner.figures.waiting, 1);
  await runner.cancel(first);
  await settle();
  assert.equal((await scene.stored(first)).state, "canceled");
  held.resolve();
  await runner.stop();
  for (const other of others) (await other)();
  const [leave, last] = [await runner.reads.enter("a"), await runner.reads.enter("b")];
  leave();
  last();
});

sceneTest(
  "the tasks of an account whose keys the store refuses end within a minute: running, waiting and without a process",
  async (scene) => {
    const refused = new Set<string>();
    const proven: string[] = [];
    const prove = ({ username }: { readonly username: string }) => {
      proven.push(username);
      return refused.has(username) ? Promise.reject(credentialsRefused("S3 authentication failed")) : Promise.resolve();
    };
    const gone = scene.process(untilAborted);
    const left = await Promise.all(Array.from({ length: 40 }, (_, n) => start(gone, n < 20 ? "bo" : "eva")));
    await gone.stop();
    const runner = scene.process(untilAborted, BOUNDS, COUNT, prove);
    const ofAlva = await Promise.all(Array.from({ length: 8 }, () => start(runner, "alva")));
    await scene.clock.advance(60_000);
    for (const id of [...left, ...ofAlva]) assert.equal((await scene.stored(id)).state, "running");
    assert.ok(proven.length <= 3 * 3, "once for each owner");
    refused.add("alva");
    refused.add("bo");
    await scene.clock.advance(60_000);
    for (const id of [...left.slice(0, 20), ...ofAlva]) {
      const { state, error, sealedCaller } = await scene.stored(id);
      assert.deepEqual([state, sealedCaller], ["failed", null]);
      assert.match(error ?? "", /S3 authentication failed/);
    }
    for (const id of left.slice(20)) assert.equal((await scene.stored(id)).state, "running");
    await runner.stop();
  },
);

sceneTest("tasks that no process has room for end at once when they are cancelled", async (scene) => {
  const gone = scene.process(untilAborted);
  const ids = await Promise.all(Array.from({ length: 60 }, () => start(gone)));
  await gone.stop();
  const runner = scene.process(untilAborted);
  await scene.clock.advance(1000);
  for (const id of ids) await runner.cancel(id);
  await scene.clock.advance(6000);
  for (const id of ids) assert.equal((await scene.stored(id)).state, "canceled");
  await runner.stop();
});
