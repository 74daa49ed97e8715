import assert from "node:assert/strict";
import { sleep } from "@/lib/std/timing.ts";
import { REDIS_PROGRAM } from "@/tests/redis_server.ts";
import { sharedByFile } from "@/tests/shared_by_file.ts";
import { until } from "@/tests/until.ts";
import { ReplicaTraffic } from "./replica_traffic.ts";
import { type Replica, type ReplicatedApplication, startReplicated } from "./replicated_application.ts";
import { ROLES } from "./upstreams.ts";

/** So many requests of each kind are answered in each phase. */
const ENOUGH = 3;
/** Longer than the test: a second signal ends it. */
const STOP_DELAY = "600";
/** More than the time within which two signals count as one. */
const SAME_SIGNAL_MS = 1100;

const shared = sharedByFile(async () => {
  const application = await startReplicated({
    roleEnv: { STOP_DELAY, MAX_TASKS: "10000", MAX_TASKS_PER_USER: "10000" },
  });
  return { application, traffic: await ReplicaTraffic.start(application.site) };
}, ({ application }) => application.kill());

/** Whether so many requests of each kind were answered since this is called. */
function enoughOf({ answered }: ReplicaTraffic): () => boolean {
  const before = new Map(answered);
  return () => [...answered].every(([kind, count]) => count >= (before.get(kind) ?? 0) + ENOUGH);
}

Deno.test({
  name: "replicas: one of each role is killed in the middle, no answered request is lost, and the others go on",
  ignore: REDIS_PROGRAM === null,
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    const { application, traffic } = await shared();
    const victims = ROLES.map((role) => application.replicas(role)[0]);
    let killedAtMs = Infinity;
    let isEnough = () => false;
    const before = enoughOf(traffic);
    const killed = until("requests of each kind", () => before() || null).then(async () => {
      await Promise.all(victims.map(async ({ role, origin, process }) => {
        await application.pool(role).nextSent(origin);
        await process.kill();
      }));
      killedAtMs = performance.now();
      isEnough = enoughOf(traffic);
    });
    await traffic.run(() => isEnough(), killed);
    const late = traffic.unanswered.filter(({ sentAtMs }) => sentAtMs > killedAtMs);
    assert.deepEqual(late, [], "what was sent after the end of the replicas");
    await traffic.check();

    const replaced: Replica[] = [];
    for (const victim of victims) replaced.push(await application.replace(victim));
    await goesOn(application, traffic, replaced);
  },
});

Deno.test({
  name: "replicas: a restart of each, one after the other, leaves no request unanswered",
  ignore: REDIS_PROGRAM === null,
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    const { application, traffic } = await shared();
    const unanswered = traffic.unanswered.length;
    let isDone = false;
    const restarts = (async () => {
      for (const n of [0, 1]) {
        const leaving = ROLES.map((role) => application.replicas(role)[n]);
        await Promise.all(leaving.map((replica) => leave(application, replica)));
        for (const replica of leaving) await application.replace(replica);
      }
    })().finally(() => isDone = true);
    await traffic.run(() => isDone, restarts);
    assert.deepEqual(traffic.unanswered.slice(unanswered), []);
    await goesOn(application, traffic, ROLES.flatMap((role) => application.replicas(role)));
  },
});

/** Ends a replica as an orchestrator does: it begins to leave, and ends when it gets no requests any more. */
async function leave(application: ReplicatedApplication, { role, origin, process }: Replica): Promise<void> {
  const pool = application.pool(role);
  Deno.kill(process.pid, "SIGTERM");
  await until(`${origin} says that it leaves`, async () => !(await pool.isServing(origin)) || null);
  await until(`${origin} has no requests`, () => pool.inFlight(origin) === 0 || null);
  // A signal within a second of the first one would count as the same.
  await sleep(SAME_SIGNAL_MS);
  assert.equal((await process.stop()).code, 0);
}

/** Requests of each kind are answered, also by these replicas, and what was acknowledged is there. */
async function goesOn(
  application: ReplicatedApplication,
  traffic: ReplicaTraffic,
  replicas: readonly Replica[],
): Promise<void> {
  const unanswered = traffic.unanswered.length;
  let areUsed = false;
  Promise.all(replicas.map(({ role, origin }) => application.pool(role).nextSent(origin))).then(() => areUsed = true);
  const isEnough = enoughOf(traffic);
  await traffic.run(() => areUsed && isEnough());
  assert.deepEqual(traffic.unanswered.slice(unanswered), []);
  await traffic.check();
}
