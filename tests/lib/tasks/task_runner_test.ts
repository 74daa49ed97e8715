import assert from "node:assert/strict";
import { credentialsRefused, HttpError, unavailable } from "@/lib/http/errors.ts";
import { LEASE_MS, RENEW_MS } from "@/lib/tasks/task.ts";
import type { Job } from "@/lib/tasks/task_keys.ts";
import { settle } from "./fake_clock.ts";
import { type Counted, sceneTest, start, untilAborted } from "./task_scene.ts";

sceneTest("eight tasks run at a time, four of one owner, and the next ones in turn", async (scene) => {
  const running: { owner: string; end: () => void }[] = [];
  const runner = scene.process((job) =>
    new Promise((resolve) => running.push({ owner: job.caller.username, end: () => resolve({ done: 1 }) }))
  );
  for (let count = 0; count < 6; count++) await start(runner);
  await settle();
  assert.equal(running.length, 4);
  for (const owner of ["bo", "bo", "bo", "bo", "bo", "eva"]) await start(runner, owner);
  await settle();
  assert.deepEqual(running.map(({ owner }) => owner).join(" "), "alva alva alva alva bo bo bo bo");
  running[0].end();
  await settle();
  assert.equal(running.at(-1)?.owner, "eva", "her first one comes before the fifth of another owner");
  running[1].end();
  await settle();
  assert.equal(running.at(-1)?.owner, "alva");
  for (let index = 2; index < running.length; index++) {
    running[index].end();
    await settle();
  }
  assert.equal(running.length, 12);
  await runner.stop();
});

sceneTest(
  "progress is stored at most four times a second, and at once where the handler requests it",
  async (scene) => {
    const steps = Promise.withResolvers<Job<Counted>>();
    const runner = scene.process((job) => {
      steps.resolve(job);
      return untilAborted(job);
    });
    const id = await start(runner);
    const job = await steps.promise;
    const done = async () => JSON.parse((await scene.stored(id)).progress).done;
    await job.checkpoint({ done: 1 });
    await job.checkpoint({ done: 2 });
    assert.equal(await done(), 1);
    await scene.clock.advance(250);
    await job.checkpoint({ done: 3 });
    assert.equal(await done(), 3);
    await job.checkpoint({ done: 4 }, "at once");
    assert.equal(await done(), 4);
    await job.checkpoint({ done: 5 });
    await scene.clock.advance(RENEW_MS);
    assert.equal(await done(), 5, "a renewal stores what was not stored yet");
    await runner.stop();
  },
);

sceneTest("a cancelled task ends at its last checkpoint", async (scene) => {
  const runner = scene.process(async (job) => {
    await job.checkpoint({ done: 7 });
    return await untilAborted(job);
  });
  const id = await start(runner);
  await settle();
  await runner.cancel(id);
  await settle();
  const { state, progress, sealedCaller } = await scene.stored(id);
  assert.deepEqual([state, JSON.parse(progress), sealedCaller], ["canceled", { done: 7 }, null]);
  await runner.stop();
});

sceneTest("a task that is cancelled by another process ends with the next renewal", async (scene) => {
  const runner = scene.process(untilAborted);
  const other = scene.process(untilAborted);
  const id = await start(runner);
  await other.cancel(id);
  await settle();
  assert.equal((await scene.stored(id)).state, "running");
  await scene.clock.advance(RENEW_MS);
  assert.equal((await scene.stored(id)).state, "canceled");
  await Promise.all([runner.stop(), other.stop()]);
});

sceneTest("a task that is cancelled while it waits never runs", async (scene) => {
  const runs: string[] = [];
  const runner = scene.process((job) => {
    runs.push(job.id);
    return untilAborted(job);
  });
  for (let count = 0; count < 4; count++) await start(runner);
  const id = await start(runner);
  await runner.cancel(id);
  assert.equal((await scene.stored(id)).state, "canceled");
  assert.ok(!runs.includes(id));
  await runner.stop();
});

sceneTest("work that must not break off goes on when the task is cancelled", async (scene) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const runner = scene.process(async (job) => {
    await promise;
    assert.ok(job.signal.aborted && !job.leaseSignal.aborted);
    await job.checkpoint({ done: 1000 });
    return { done: 0 };
  });
  const id = await start(runner);
  await runner.cancel(id);
  resolve();
  await settle();
  const { state, progress } = await scene.stored(id);
  assert.deepEqual([state, JSON.parse(progress)], ["canceled", { done: 1000 }]);
  await runner.stop();
});

sceneTest("the tasks of a process that died go on in another one at their last stored checkpoint", async (scene) => {
  let isDead = false;
  const dying = scene.process(async (job) => {
    await job.checkpoint({ done: 5 });
    await untilAborted(job);
    return { done: 0 };
  });
  const id = await start(dying);
  await settle();
  // A process that dies renews nothing more and writes nothing more.
  const { save } = scene.sqlite;
  scene.sqlite.save = (...of) => isDead ? Promise.resolve("lost") : save.apply(scene.sqlite, of);
  isDead = true;
  await dying.stop();
  isDead = false;
  await scene.sqlite.claim("dying", 1);
  const seen: number[] = [];
  const other = scene.process(({ progress: { done } }) => {
    seen.push(done);
    return Promise.resolve({ done: done + 1 });
  });
  await scene.clock.advance(LEASE_MS - RENEW_MS);
  assert.deepEqual(seen, []);
  await scene.clock.advance(2 * RENEW_MS);
  assert.deepEqual(seen, [5]);
  assert.deepEqual(JSON.parse((await scene.stored(id)).progress), { done: 6 });
  await other.stop();
});

sceneTest("a process that stops stores how far its tasks are, and another one goes on at once", async (scene) => {
  const stopping = scene.process(async (job) => {
    await job.checkpoint({ done: 1 });
    await job.checkpoint({ done: 2 });
    return await untilAborted(job);
  });
  const id = await start(stopping);
  await settle();
  await stopping.stop();
  await assert.rejects(start(stopping), { status: 503 });
  const seen: number[] = [];
  const other = scene.process(({ progress: { done } }) => {
    seen.push(done);
    return Promise.resolve({ done: 3 });
  });
  await settle();
  assert.deepEqual(seen, [2]);
  assert.equal((await scene.stored(id)).state, "ready");
  await other.stop();
});

sceneTest("a stop does not wait for work that does not end, nor for a store that does not respond", async (scene) => {
  const runner = scene.process(() => new Promise(() => {}));
  await start(runner);
  const hanging = new Promise<never>(() => {});
  scene.sqlite.save = () => hanging;
  let isStopped = false;
  runner.stop().then(() => isStopped = true);
  await scene.clock.advance(3900);
  assert.ok(isStopped);
});

sceneTest("other errors fail the task at once, with a sentence", async (scene) => {
  for (
    const [thrown, sentence] of [
      [new HttpError(404, "bucket 'letters': gone"), /^bucket 'letters': gone$/],
      [credentialsRefused("bucket 'letters': The store refused the credentials"), /credentials.*log in again/],
      [new HttpError(403, "bucket 'letters': Access denied"), /Access denied.*password/],
      [new TypeError("x is not a function"), /^Internal error/],
    ] as const
  ) {
    const runner = scene.process(() => Promise.reject(thrown));
    const id = await start(runner);
    await settle();
    const { state, error, sealedCaller } = await scene.stored(id);
    assert.deepEqual([state, sealedCaller], ["failed", null]);
    assert.match(error ?? "", sentence);
    await runner.stop();
  }
  assert.deepEqual(scene.logged.map(({ level }) => level), ["error"], "faults of the program are logged");
});

sceneTest(
  "while the store is not reachable the work goes on until the lease may run out, then waits for it",
  async (scene) => {
    const seen: number[] = [];
    let job: Job<Counted> | null = null;
    const runner = scene.process((begun) => {
      seen.push(begun.progress.done);
      job = begun;
      return untilAborted(begun);
    });
    const id = await start(runner);
    await settle();
    scene.isDown = true;
    await scene.clock.advance(2 * RENEW_MS);
    assert.ok(job);
    await (job as Job<Counted>).checkpoint({ done: 3 });
    assert.ok(!(job as Job<Counted>).signal.aborted);
    await scene.clock.advance(RENEW_MS);
    assert.ok((job as Job<Counted>).signal.aborted, "before the lease has run out");
    await scene.clock.advance(10 * RENEW_MS);
    assert.deepEqual(seen, [0]);
    scene.isDown = false;
    await scene.clock.advance(2 * RENEW_MS);
    assert.deepEqual(seen, [0, 3], "it goes on where it was");
    assert.equal((await scene.stored(id)).state, "running");
    assert.deepEqual(scene.logged.map(({ level }) => level), ["warn", "warn"]);
    await runner.stop();
  },
);

sceneTest("a task that another process took over meanwhile is left to it", async (scene) => {
  const runner = scene.process(untilAborted);
  const id = await start(runner);
  await settle();
  scene.isDown = true;
  await scene.clock.advance(LEASE_MS + RENEW_MS);
  assert.deepEqual((await scene.sqlite.claim("other", 1)).map((task) => task.id), [id]);
  scene.isDown = false;
  await scene.clock.advance(RENEW_MS);
  assert.equal(await scene.sqlite.save(id, "other", '{"done":8}'), "stored");
  await runner.stop();
  assert.deepEqual(JSON.parse((await scene.stored(id)).progress), { done: 8 });
});

sceneTest("an end that cannot be stored is stored when the store is reachable again", async (scene) => {
  const { promise, resolve } = Promise.withResolvers<Counted>();
  const runner = scene.process(() => promise);
  const id = await start(runner);
  scene.isDown = true;
  resolve({ done: 1 });
  await scene.clock.advance(2 * RENEW_MS);
  scene.isDown = false;
  await scene.clock.advance(RENEW_MS);
  assert.deepEqual([(await scene.stored(id)).state], ["ready"]);
  await runner.stop();
});

sceneTest("a progress that must be stored waits for the store", async (scene) => {
  const steps: string[] = [];
  const runner = scene.process(async (job) => {
    scene.isDown = true;
    await job.checkpoint({ done: 1 }, "at once");
    steps.push("stored");
    return { done: 1 };
  });
  await start(runner);
  await scene.clock.advance(3000);
  assert.deepEqual(steps, []);
  scene.isDown = false;
  await scene.clock.advance(1000);
  assert.deepEqual(steps, ["stored"]);
  await runner.stop();
});

sceneTest("a task whose record cannot be read back after it was created is worked on all the same", async (scene) => {
  scene.sqlite.get = () => Promise.reject(unavailable("The task store cannot be reached", 5));
  const runs: string[] = [];
  const runner = scene.process((job) => {
    runs.push(job.id);
    return Promise.resolve({ done: 1 });
  });
  const id = await start(runner);
  await settle();
  assert.deepEqual(runs, [id]);
  await runner.stop();
});

sceneTest("a stop stores the last progress where an older one is being stored", async (scene) => {
  const jobs: Job<Counted>[] = [];
  const runner = scene.process((job) => {
    jobs.push(job);
    return untilAborted(job);
  });
  const id = await start(runner);
  await settle();
  const storing = Promise.withResolvers<void>();
  const { save } = scene.sqlite;
  scene.sqlite.save = async (...of) => {
    scene.sqlite.save = save;
    await storing.promise;
    return await save.apply(scene.sqlite, of);
  };
  const steps = [jobs[0].checkpoint({ done: 1 }), jobs[0].checkpoint({ done: 2 })];
  const stopped = runner.stop();
  await Promise.allSettled(steps);
  await settle();
  storing.resolve();
  await stopped;
  assert.deepEqual(JSON.parse((await scene.stored(id)).progress), { done: 2 });
});

sceneTest("a task that waits and is claimed again goes on where another process left it", async (scene) => {
  const running: { done: number; end: () => void }[] = [];
  const runner = scene.process(({ progress: { done } }) =>
    new Promise((resolve) => running.push({ done, end: () => resolve({ done }) }))
  );
  for (let count = 0; count < 4; count++) await start(runner);
  const waiting = await scene.stored(await start(runner));
  await settle();
  const { claim } = scene.sqlite;
  scene.sqlite.claim = () => {
    scene.sqlite.claim = claim;
    return Promise.resolve([{ ...waiting, progress: '{"done":5}' }]);
  };
  await scene.clock.advance(RENEW_MS);
  for (let index = 0; index < running.length; index++) {
    running[index].end();
    await settle();
  }
  assert.deepEqual(running.map(({ done }) => done), [0, 0, 0, 0, 5]);
  await runner.stop();
});
