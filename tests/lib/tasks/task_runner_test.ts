import assert from "node:assert/strict";
import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import type { LogEntry } from "@/lib/http/access_log.ts";
import { badGateway, credentialsRefused, HttpError, unavailable } from "@/lib/http/errors.ts";
import { SqliteTaskStore } from "@/lib/tasks/sqlite_task_store.ts";
import { LEASE_MS, MAX_RUN_MS, RAN_TOO_LONG, RENEW_MS, type Task } from "@/lib/tasks/task.ts";
import type { Job, TaskHandler, TaskType } from "@/lib/tasks/task_handler.ts";
import { blobDigests, openCaller, sealCaller, type SealedTask, sealProgress, taskKeys } from "@/lib/tasks/task_keys.ts";
import { TaskRunner } from "@/lib/tasks/task_runner.ts";
import type { TaskStore } from "@/lib/tasks/task_store.ts";
import { FakeClock, settle } from "./fake_clock.ts";

type Counted = { readonly done: number };
type Work = (job: Job<Counted>) => Promise<Counted>;

const COUNT = { kind: "count", progress: z.object({ done: z.int() }), keepsCaller: false } as const;
const KEYS = taskKeys(new TextEncoder().encode("a secret of this test"));

function caller(username: string): Caller {
  return {
    username,
    tenant: "archive",
    s3: { accessKey: username, secretKey: "s" },
    mapiAuthorization: null,
    named: true,
  };
}

/** Stores and processes that share one clock. */
class Scene {
  readonly clock = new FakeClock();
  readonly logged: LogEntry[] = [];
  readonly sqlite = new SqliteTaskStore(":memory:", () => 1_700_000_000_000 + this.clock.now());
  /** While set, the store is not reachable. */
  isDown = false;

  store(): TaskStore {
    return new Proxy<TaskStore>(this.sqlite, {
      get: (target, name: keyof TaskStore) =>
        this.isDown
          ? () => Promise.reject(unavailable("The task store cannot be reached", 5))
          : target[name].bind(target),
    });
  }

  /** A process that begins at once. */
  process(run: Work, bounds = { maxPerOwner: 100, max: 100 }, type: TaskType<Counted> = COUNT): TaskRunner {
    const handler: TaskHandler<Counted> = { ...type, keepsCaller: false, run };
    const runner = new TaskRunner({
      store: this.store(),
      keys: KEYS,
      handlers: [handler],
      bounds,
      clock: this.clock,
      log: { write: (entry) => void this.logged.push(entry) },
    });
    runner.start();
    return runner;
  }

  async stored(id: string): Promise<Task> {
    const task = await this.sqlite.get(id);
    assert.ok(task);
    return task;
  }
}

const start = (runner: TaskRunner, username = "alva", bucket = "letters") =>
  runner.create(COUNT, { caller: caller(username), bucket, progress: { done: 0 } });

function test(name: string, run: (scene: Scene) => Promise<void>): void {
  Deno.test(`task runner: ${name}`, async () => {
    const scene = new Scene();
    await run(scene);
    await scene.sqlite.close();
  });
}

/** Waits until the job is interrupted, as work that waits for the store does. */
function untilAborted({ signal }: Job<Counted>): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
    if (signal.aborted) reject(signal.reason);
  });
}

test("a task is worked on by the process that created it, with its caller's keys, and ends as ready", async (scene) => {
  const runner = scene.process(async (job) => {
    assert.deepEqual({ ...job.caller, signal: undefined }, { ...caller("alva"), signal: undefined });
    await job.checkpoint({ done: 1 });
    return { done: 2 };
  });
  const id = await start(runner);
  await settle();
  const { task, progress } = await runner.find(COUNT, "letters", id, caller("alva"));
  assert.deepEqual([task.state, progress, task.sealedCaller], ["ready", { done: 2 }, null]);
  await runner.stop();
});

test("a task is found by its owner alone, under its kind and bucket", async (scene) => {
  const runner = scene.process(untilAborted);
  const id = await start(runner);
  const zip = { ...COUNT, kind: "zip" } as const;
  const missing = { status: 404, message: "Task not found" };
  await assert.rejects(runner.find(COUNT, "letters", id, caller("bo")), missing);
  await assert.rejects(runner.find(COUNT, "other", id, caller("alva")), missing);
  await assert.rejects(runner.find(zip, "letters", id, caller("alva")), missing);
  await assert.rejects(runner.find(COUNT, "letters", "x", caller("alva")), missing);
  await runner.stop();
});

test("beyond a bound a new task is 429 with Retry-After", async (scene) => {
  const runner = scene.process(untilAborted, { maxPerOwner: 1, max: 2 });
  await start(runner);
  await assert.rejects(start(runner), { status: 429, headers: { "Retry-After": "10" } });
  await start(runner, "bo");
  await assert.rejects(start(runner, "eva"), { status: 429, headers: { "Retry-After": "10" } });
  await runner.stop();
});

test("eight tasks run at a time, four of one owner, and the next ones in turn", async (scene) => {
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

test("a progress is stored at most four times a second, and at once where that is asked for", async (scene) => {
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
});

test("a cancelled task ends at its last checkpoint", async (scene) => {
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

test("a task that is cancelled by another process ends with the next renewal", async (scene) => {
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

test("a task that is cancelled while it waits never runs", async (scene) => {
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

test("work that must not break off goes on when the task is cancelled", async (scene) => {
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

test("the tasks of a process that died go on in another one at their last stored checkpoint", async (scene) => {
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

test("a process that stops stores how far its tasks are, and another one goes on at once", async (scene) => {
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

test("a stop does not wait for work that does not end, nor for a store that does not respond", async (scene) => {
  const runner = scene.process(() => new Promise(() => {}));
  await start(runner);
  const hanging = new Promise<never>(() => {});
  scene.sqlite.save = () => hanging;
  let isStopped = false;
  runner.stop().then(() => isStopped = true);
  await scene.clock.advance(3900);
  assert.ok(isStopped);
});

test("errors of the object store that may pass are retried from the last checkpoint", async (scene) => {
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

test("after five minutes of such errors the task fails with the last one", async (scene) => {
  const runner = scene.process(() => Promise.reject(badGateway("S3 endpoint unreachable")));
  const id = await start(runner);
  await scene.clock.advance(299_000);
  assert.equal((await scene.stored(id)).state, "running");
  await scene.clock.advance(60_000);
  const { state, error } = await scene.stored(id);
  assert.deepEqual([state, error], ["failed", "S3 endpoint unreachable"]);
  await runner.stop();
});

test("a checkpoint of a part that is done again does not begin the five minutes anew", async (scene) => {
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
  assert.equal(seen.length, 4, "a full one begins the waits anew");
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

test("a task that waits for a retry holds no slot, and runs at its time", async (scene) => {
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

test("a task that waits for a retry can be cancelled, stopped, and outlives an outage of the task store", async (scene) => {
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
});

test("tasks that wait for a retry do not keep a process from claiming those of a dead one", async (scene) => {
  const runner = scene.process((job) =>
    job.caller.username === "eva" ? Promise.resolve({ done: 1 }) : Promise.reject(badGateway("unreachable"))
  );
  for (let count = 0; count < 20; count++) await start(runner);
  await settle();
  const dead = scene.process(untilAborted);
  const id = await start(dead, "eva");
  await dead.stop();
  await scene.clock.advance(RENEW_MS);
  assert.equal((await scene.stored(id)).state, "ready");
  await runner.stop();
});

test("a process that has 64 tasks claims none until one ends, although all wait for a retry", async (scene) => {
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

test("other errors fail the task at once, with a sentence", async (scene) => {
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

test("a task whose keys or progress cannot be read fails", async (scene) => {
  const runner = scene.process(untilAborted);
  await runner.stop();
  const stored = { kind: "count", owner: "o", bucket: "letters", sealedCaller: new Uint8Array(40) } as const;
  const id = "d0d0d0d0-0000-4000-8000-000000000001";
  await scene.sqlite.create({ ...stored, id, progress: "{}" }, "gone", { maxPerOwner: 1, max: 1 });
  await scene.sqlite.release("gone");
  const other = scene.process(untilAborted);
  await settle();
  const { state, error } = await scene.stored(id);
  assert.equal(state, "failed");
  assert.match(error ?? "", /start it again$/);
  await other.stop();
});

test("while the store is not reachable the work goes on until the lease may run out, then waits for it", async (scene) => {
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
});

test("a task that another process took over meanwhile is left to it", async (scene) => {
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

test("an end that cannot be stored is stored when the store is reachable again", async (scene) => {
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

test("a progress that must be stored waits for the store", async (scene) => {
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

test("a task whose record cannot be read back after it was created is worked on all the same", async (scene) => {
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

const DELETE = { kind: "delete", progress: COUNT.progress, isSealed: true } as const;
const INPUT = new Map([["prefixes", new Uint8Array([1, 2])], ["keys/0", new Uint8Array([3])]]);

/** Stores a deletion with keys that were sealed for a task, and begins to work on it in a process. */
async function runDeletion(
  scene: Scene,
  sealed: { kind?: "count" | "delete"; bucket?: string; ageMs?: number },
  blobs: ReadonlyMap<string, Uint8Array>,
  stored: (progress: string, task: SealedTask) => string = (progress, task) => sealProgress(progress, task, KEYS),
): Promise<{ task: Task; read: Uint8Array[] }> {
  const id = crypto.randomUUID();
  const named = { id, kind: "delete", owner: "o", bucket: "letters" } as const;
  const task = { ...named, progress: stored('{"done":0}', named) };
  const { ageMs = 0, ...of } = sealed;
  const terms = { at: Date.now() - ageMs, digests: blobDigests(INPUT) };
  const sealedCaller = sealCaller(caller("alva"), { ...task, ...of }, terms, KEYS);
  await scene.sqlite.create({ ...task, sealedCaller }, "gone", { maxPerOwner: 9, max: 9 }, blobs);
  await scene.sqlite.release("gone");
  const read: Uint8Array[] = [];
  const work: Work = async (job) => {
    for (const name of ["prefixes", "keys/0"]) {
      const [blob] = await job.readBlobs([name]);
      if (blob) read.push(blob);
    }
    return { done: 1 };
  };
  const runner = scene.process(work, undefined, DELETE);
  await settle();
  await runner.stop();
  return { task: await scene.stored(id), read };
}

test("work reads the input with which its owner's keys were sealed", async (scene) => {
  const { task, read } = await runDeletion(scene, {}, INPUT);
  assert.deepEqual([task.state, read], ["ready", [...INPUT.values()]]);
});

for (
  const [what, sealed, blobs, sentence] of [
    ["of another kind", { kind: "count" }, INPUT, /start it again$/],
    ["of another bucket", { bucket: "other" }, INPUT, /start it again$/],
    ["that is older than a day", { ageMs: MAX_RUN_MS + 2 * 3_600_000 }, INPUT, new RegExp(RAN_TOO_LONG)],
    ["with other input", {}, new Map([...INPUT, ["prefixes", new Uint8Array([1])]]), /changed or is gone/],
    ["whose input is gone", {}, new Map(), /changed or is gone/],
  ] as const
) {
  test(`a task whose keys were sealed for one ${what} fails before it works`, async (scene) => {
    const { task, read } = await runDeletion(scene, sealed, blobs);
    assert.deepEqual([task.state, read], ["failed", []]);
    assert.match(task.error ?? "", sentence);
  });
}

for (
  const [what, stored] of [
    ["is not sealed", (progress) => progress],
    ["is of another task", (progress, task) => sealProgress(progress, { ...task, id: crypto.randomUUID() }, KEYS)],
    ["was changed", (progress, task) => sealProgress(progress, task, KEYS).replace(/^./, (c) => c === "A" ? "B" : "A")],
    ["is of another version", (_, task) => sealProgress('{"x":1}', task, KEYS)],
  ] as [what: string, stored: (progress: string, task: SealedTask) => string][]
) {
  test(`a deletion whose progress ${what} fails before it works`, async (scene) => {
    const { task, read } = await runDeletion(scene, {}, INPUT, stored);
    assert.deepEqual([task.state, read], ["failed", []]);
    assert.match(task.error ?? "", /another version of the gateway: start it again$/);
  });
}

test("the progress of a deletion is stored sealed, and goes on in another process", async (scene) => {
  const seen: number[] = [];
  const work: Work = async ({ progress: { done }, checkpoint, signal }) => {
    seen.push(done);
    await checkpoint({ done: done + 7 }, "at once");
    if (done === 0) await new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    return { done: 9 };
  };
  const runner = scene.process(work, undefined, DELETE);
  const of = { caller: caller("alva"), bucket: "letters", progress: { done: 0 }, blobs: INPUT };
  const id = await runner.create(DELETE, of);
  await settle();
  assert.doesNotMatch((await scene.stored(id)).progress, /done/);
  assert.deepEqual((await runner.find(DELETE, "letters", id, caller("alva"))).progress, { done: 7 });
  await runner.stop();
  const other = scene.process(work, undefined, DELETE);
  await settle();
  assert.deepEqual(seen, [0, 7]);
  const { task, progress } = await other.find(DELETE, "letters", id, caller("alva"));
  assert.deepEqual([task.state, progress], ["ready", { done: 9 }]);
  await other.stop();
});

test("the digests of fixed input are sealed when a task is created", async (scene) => {
  const runner = scene.process(untilAborted, undefined, DELETE);
  const of = { caller: caller("alva"), bucket: "letters", progress: { done: 0 }, blobs: INPUT };
  const task = await scene.stored(await runner.create(DELETE, of));
  assert.deepEqual(task.sealedCaller && openCaller(task.sealedCaller, task, KEYS)?.digests, blobDigests(INPUT));
  await runner.stop();
});

test("a stop stores the last progress where an older one is being stored", async (scene) => {
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

test("a task that waits and is claimed again goes on where another process left it", async (scene) => {
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
