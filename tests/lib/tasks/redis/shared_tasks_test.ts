import assert from "node:assert/strict";
import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { RedisClient } from "@/lib/tasks/redis/redis_client.ts";
import { RedisTaskStore } from "@/lib/tasks/redis/redis_task_store.ts";
import { LEASE_MS } from "@/lib/tasks/task.ts";
import { type Job, PROCESS_CLOCK } from "@/lib/tasks/task_handler.ts";
import { taskKeys } from "@/lib/tasks/task_keys.ts";
import { TaskRunner } from "@/lib/tasks/task_runner.ts";
import { REDIS_PROGRAM, RedisServer } from "@/tests/redis_server.ts";

type Counted = { readonly done: number };
type Work = (job: Job<Counted>) => Promise<Counted>;

const COUNT = { kind: "count", progress: z.object({ done: z.int() }), keepsCaller: false } as const;
const CALLER: Caller = {
  username: "alva",
  tenant: "archive",
  s3: { accessKey: "a", secretKey: "s" },
  mapiAuthorization: null,
  named: true,
};

/** A process of the gateway; `clockOffset` is how much later than the server's clock its store believes it to be, ms. */
function process(url: string, run: Work, clockOffset = 0): TaskRunner {
  const options = { deployment: "d", warn() {}, clockOffset: () => clockOffset };
  const runner = new TaskRunner({
    store: new RedisTaskStore(new RedisClient({ url, warn() {} }), options),
    keys: taskKeys(new TextEncoder().encode("the secret of all replicas")),
    handlers: [{ ...COUNT, run }],
    bounds: { maxPerOwner: 10, maxPerTenant: 10, max: 10 },
    clock: PROCESS_CLOCK,
    log: { write() {} },
  });
  runner.start();
  return runner;
}

async function end(runner: TaskRunner): Promise<void> {
  await runner.stop();
  await runner.store.close();
}

/** Waits until the job is interrupted, as work that waits for the store does. */
function untilAborted({ leaseSignal }: Job<Counted>): Promise<never> {
  return new Promise((_, reject) => {
    leaseSignal.addEventListener("abort", () => reject(leaseSignal.reason));
    if (leaseSignal.aborted) reject(leaseSignal.reason);
  });
}

/** A process that counts to five and goes no further. */
function stuckAtFive(url: string): { runner: TaskRunner; stuck: Promise<Job<Counted>> } {
  const { promise, resolve } = Promise.withResolvers<Job<Counted>>();
  const runner = process(url, async (job) => {
    await job.checkpoint({ done: 5 }, "at once");
    resolve(job);
    return await untilAborted(job);
  });
  return { runner, stuck: promise };
}

/** A process that goes on from where a task is, and where that was. */
function finisher(url: string, clockOffset = 0): { runner: TaskRunner; from: Promise<Counted> } {
  const { promise, resolve } = Promise.withResolvers<Counted>();
  const runner = process(url, (job) => {
    resolve(job.progress);
    return Promise.resolve({ done: job.progress.done + 1 });
  }, clockOffset);
  return { runner, from: promise };
}

function test(name: string, run: (url: string) => Promise<void>): void {
  Deno.test({
    name: `tasks of replicas: ${name}`,
    ignore: REDIS_PROGRAM === null,
    async fn() {
      await using server = await RedisServer.start();
      await run(server.url);
    },
  });
}

const start = (runner: TaskRunner) =>
  runner.create(COUNT, { caller: CALLER, bucket: "letters", progress: { done: 0 } });

test("another one goes on at once with a task of one that stops, and either shows it", async (url) => {
  const first = stuckAtFive(url);
  const id = await start(first.runner);
  await first.stuck;
  await end(first.runner);
  const second = finisher(url);
  assert.deepEqual(await second.from, { done: 5 });
  await end(second.runner);
  const third = finisher(url);
  const { task, progress } = await third.runner.find(COUNT, "letters", id, CALLER);
  assert.deepEqual([task.state, progress, task.sealedCaller], ["ready", { done: 6 }, null]);
  await end(third.runner);
});

test("another one goes on with a task of one that is not heard of, which then stores nothing more", async (url) => {
  const first = stuckAtFive(url);
  const id = await start(first.runner);
  const job = await first.stuck;
  const second = finisher(url, LEASE_MS + 1000);
  assert.deepEqual(await second.from, { done: 5 });
  await assert.rejects(job.checkpoint({ done: 99 }, "at once"));
  await end(second.runner);
  assert.deepEqual((await first.runner.find(COUNT, "letters", id, CALLER)).progress, { done: 6 });
  await end(first.runner);
});

test("a task is cancelled through any of them", async (url) => {
  const first = stuckAtFive(url);
  const id = await start(first.runner);
  const job = await first.stuck;
  const second = finisher(url);
  await second.runner.cancel(id);
  const found = await first.runner.find(COUNT, "letters", id, CALLER);
  assert.equal(found.task.isCanceling, true);
  await assert.rejects(job.checkpoint({ done: 6 }, "at once"));
  await Promise.all([end(first.runner), end(second.runner)]);
});
