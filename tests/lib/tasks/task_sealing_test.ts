import assert from "node:assert/strict";
import { SHORT_LIFETIME, type Task } from "@/lib/tasks/task.ts";
import { blobDigests, openCaller, sealCaller, type SealedTask, sealProgress } from "@/lib/tasks/task_keys.ts";
import { settle } from "./fake_clock.ts";
import { caller, COUNT, KEYS, type Scene, sceneTest, untilAborted, type Work } from "./task_scene.ts";

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
  const named = { id, kind: "delete", owner: "o", tenant: null, account: null, bucket: "letters" } as const;
  const task = { ...named, progress: stored('{"done":0}', named) };
  const { ageMs = 0, ...of } = sealed;
  const terms = { at: Date.now() - ageMs, digests: blobDigests(INPUT) };
  const sealedCaller = sealCaller(caller("alva"), { ...task, ...of }, terms, KEYS);
  await scene.sqlite.create({ ...task, sealedCaller }, "gone", { maxPerOwner: 9, maxPerTenant: 9, max: 9 }, blobs);
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

sceneTest("work reads the input with which its owner's keys were sealed", async (scene) => {
  const { task, read } = await runDeletion(scene, {}, INPUT);
  assert.deepEqual([task.state, read], ["ready", [...INPUT.values()]]);
});

for (
  const [what, sealed, blobs, sentence] of [
    ["of another kind", { kind: "count" }, INPUT, /start it again/],
    ["of another bucket", { bucket: "other" }, INPUT, /start it again/],
    [
      "that is older than a day",
      { ageMs: SHORT_LIFETIME.maxRunMs + 2 * 3_600_000 },
      INPUT,
      new RegExp(SHORT_LIFETIME.ranTooLong),
    ],
    ["with other input", {}, new Map([...INPUT, ["prefixes", new Uint8Array([1])]]), /changed or is gone/],
    ["whose input is gone", {}, new Map(), /changed or is gone/],
  ] as const
) {
  sceneTest(`a task whose keys were sealed for one ${what} fails before it works`, async (scene) => {
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
  sceneTest(`a deletion whose progress ${what} fails before it works`, async (scene) => {
    const { task, read } = await runDeletion(scene, {}, INPUT, stored);
    assert.deepEqual([task.state, read], ["failed", []]);
    assert.match(task.error ?? "", /another version of the gateway: start it again/);
  });
}

sceneTest("the progress of a deletion is stored sealed, and goes on in another process", async (scene) => {
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

sceneTest("the digests of fixed input are sealed when a task is created", async (scene) => {
  const runner = scene.process(untilAborted, undefined, DELETE);
  const of = { caller: caller("alva"), bucket: "letters", progress: { done: 0 }, blobs: INPUT };
  const task = await scene.stored(await runner.create(DELETE, of));
  assert.deepEqual(task.sealedCaller && openCaller(task.sealedCaller, task, KEYS)?.digests, blobDigests(INPUT));
  await runner.stop();
});
