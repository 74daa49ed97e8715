import assert from "node:assert/strict";
import type { Job, Pod } from "@/embedded/cluster/kube_objects.ts";
import type { ResultFile } from "@/embedded/cluster/result_files.ts";
import { sampleCampaigns } from "@/embedded/cluster/sample_campaigns.ts";
import { Simulator } from "@/embedded/cluster/simulator.ts";
import { byNamespaceAndName } from "@/embedded/cluster/store.ts";
import { printedErrors } from "@/tests/printed_errors.ts";
import { memoryWriter, sampleOptions, START } from "./sample_cluster.ts";

const NAMESPACE = "batch-default";

function job(simulator: Simulator, name: string): Job {
  const found = simulator.store.get("jobs", NAMESPACE, name);
  assert.ok(found, name);
  return found;
}

function podsOf(simulator: Simulator, name: string): Pod[] {
  return simulator.store.list("pods").filter((pod) => pod.metadata.labels?.["batch.kubernetes.io/job-name"] === name);
}

function holding(job: Job): string[] {
  return (job.status.conditions ?? []).filter(({ status }) => status === "True").map(({ type }) => type);
}

/** Steps until something holds; fails after a bound of simulated time. */
async function stepUntil(simulator: Simulator, holds: () => boolean, seconds = 7200): Promise<void> {
  for (let second = 0; second < seconds; second += 5) {
    if (holds()) return;
    await simulator.step(5000);
  }
  assert.fail("it never came");
}

Deno.test("simulator: the first start shows every state a campaign can be in", () => {
  const simulator = new Simulator(sampleOptions());
  assert.deepEqual(holding(job(simulator, "landsarkivet-lund-1812")), ["Suspended"]);
  assert.equal(job(simulator, "landsarkivet-lund-1812").status.startTime, undefined);
  const waiting = podsOf(simulator, "kyrkobocker-vaxjo-1755");
  assert.equal(waiting.length, 2);
  assert.ok(waiting.every((pod) => pod.status.phase === "Pending"));
  assert.equal(job(simulator, "warmup-church-books-v1.2").status.active, 1);
  const running = job(simulator, "svea-hovratt-1870");
  assert.equal(running.status.active, 3);
  assert.ok((running.status.succeeded ?? 0) > 3);
  assert.equal(running.status.failedIndexes, "5");
  const paused = job(simulator, "radhusratten-stockholm-1651");
  assert.deepEqual(holding(paused), ["Suspended"]);
  assert.ok(paused.status.completedIndexes);
  assert.ok(paused.status.startTime);
  assert.deepEqual(holding(job(simulator, "goteborg-domkapitel-1790")), ["FailureTarget", "Failed"]);
  assert.equal(job(simulator, "goteborg-domkapitel-1790").status.failedIndexes, "4,7,10,11");
  const succeeded = job(simulator, "bergskollegium-1720");
  assert.deepEqual(holding(succeeded), ["SuccessCriteriaMet", "Complete"]);
  assert.equal(succeeded.status.completedIndexes, "0-11");
  assert.equal(succeeded.status.failedIndexes, "");
  assert.deepEqual(holding(job(simulator, "warmup-maps-v1")), ["FailureTarget", "Failed"]);
  assert.equal(simulator.store.get("jobs", NAMESPACE, "sjomanshuset-visby-1844"), undefined);
  assert.deepEqual(podsOf(simulator, "sjomanshuset-visby-1844"), []);
  const record = simulator.store.get("configmaps", NAMESPACE, "campaign-sjomanshuset-visby-1844-status");
  assert.equal(record?.data?.phase, "PartiallyFailed");
  assert.deepEqual(JSON.parse(record?.data?.failedVolumes ?? ""), [
    { id: "SE-VALA-1844-D1-0017", reason: "manifest unreadable: the archive answered 404" },
  ]);
  assert.ok(simulator.store.get("configmaps", NAMESPACE, "campaign-sjomanshuset-visby-1844"));
});

Deno.test("simulator: pods end according to their troubles", () => {
  const simulator = new Simulator(sampleOptions());
  const pods = podsOf(simulator, "goteborg-domkapitel-1790");
  const of = (index: number) =>
    pods.filter((pod) => pod.metadata.labels?.["batch.kubernetes.io/job-completion-index"] === String(index));
  const ending = (pod: Pod) => pod.status.containerStatuses?.[0].state.terminated;
  assert.deepEqual(of(4).map((pod) => ending(pod)?.exitCode), [13]);
  assert.deepEqual(JSON.parse(ending(of(4)[0])?.message ?? ""), {
    stage: "setup",
    permanent: true,
    error: "manifest unreadable: the archive answered 404",
  });
  assert.deepEqual(of(7).map((pod) => ending(pod)?.exitCode), [1, 1, 1, 1]);
  assert.ok(of(10).every((pod) => ending(pod)?.reason === "OOMKilled" && ending(pod)?.message === undefined));
  assert.equal(of(10).length, 4);
  assert.ok(of(11).every((pod) => pod.status.reason === "DeadlineExceeded" && ending(pod)?.exitCode === 143));
  assert.deepEqual(of(2).map((pod) => pod.status.phase).sort(), ["Failed", "Succeeded"]);
  const evicted = of(8).find((pod) => pod.status.reason === "Evicted");
  assert.ok(evicted?.status.conditions?.some(({ type }) => type === "DisruptionTarget"));
  const replacement = of(8).find((pod) => pod.status.phase === "Succeeded");
  assert.equal(replacement?.metadata.annotations?.["batch.kubernetes.io/job-index-failure-count"], "0");
});

Deno.test("simulator: a warm-up that succeeds opens the gate, one that fails closes it after half an hour", async () => {
  const simulator = new Simulator(sampleOptions());
  await stepUntil(simulator, () => holding(job(simulator, "warmup-church-books-v1.2")).includes("Complete"), 300);
  await simulator.step(5000);
  assert.ok(podsOf(simulator, "kyrkobocker-vaxjo-1755").every((pod) => pod.status.phase === "Running"));
  await stepUntil(simulator, () => holding(job(simulator, "kommerskollegium-kartor")).includes("Failed"), 8000);
  const [pod] = podsOf(simulator, "kommerskollegium-kartor");
  const gate = pod.status.initContainerStatuses?.[0].state.terminated;
  assert.equal(gate?.exitCode, 13);
  assert.equal(gate?.message, "no warm-up marker at /data/warmup/maps-v1.done after 1800s");
  assert.equal(job(simulator, "kommerskollegium-kartor").status.completedIndexes, undefined);
});

Deno.test("simulator: a paused campaign's workers report SIGTERM, keep their pages and end", async () => {
  const simulator = new Simulator(sampleOptions());
  const running = job(simulator, "svea-hovratt-1870");
  const from = simulator.store.version;
  simulator.store.replace("jobs", { ...running, spec: { ...running.spec, suspend: true } });
  await simulator.step(5000);
  const paused = job(simulator, running.metadata.name).status;
  assert.deepEqual([paused.active, paused.terminating, paused.failed], [undefined, 0, running.status.failed]);
  const messages = (simulator.store.changesSince(from) ?? []).flatMap(({ object }) =>
    object?.kind === "Pod" && object.status.phase === "Failed"
      ? object.status.containerStatuses?.[0].state.terminated?.message ?? []
      : []
  );
  assert.deepEqual(messages.map((message) => JSON.parse(message).error), ["SIGTERM", "SIGTERM", "SIGTERM"]);
});

Deno.test("simulator: equal seeds and times give equal objects and files in any steps; another seed does not", async () => {
  const first = memoryWriter();
  const second = memoryWriter();
  const other = memoryWriter();
  const a = new Simulator(sampleOptions({ writer: first }));
  const b = new Simulator(sampleOptions({ writer: second }));
  const c = new Simulator(sampleOptions({ writer: other, seed: 8 }));
  await a.step(60_000);
  for (let part = 0; part < 80; part++) await b.step(750);
  await c.step(60_000);
  assert.deepEqual(a.snapshot(), b.snapshot());
  assert.deepEqual([...first.files.keys()].sort(), [...second.files.keys()].sort());
  for (const key of first.files.keys()) assert.equal(first.text(key), second.text(key), key);
  const page = `${NAMESPACE}/swedish-lion-v2/SE-RA-420-1720-B-0101/alto/0001.xml`;
  assert.notEqual(first.text(page), other.text(page));
});

Deno.test("simulator: a Job that cannot be worked on is logged once, and stops no other", async () => {
  const simulator = new Simulator(sampleOptions());
  const running = job(simulator, "svea-hovratt-1870");
  // As a snapshot of another version may have it.
  const spec = { ...running.spec, template: null } as unknown as Job["spec"];
  const { apiVersion, kind } = running;
  simulator.store.create("jobs", {
    apiVersion,
    kind,
    metadata: { name: "a-broken-one", namespace: NAMESPACE },
    spec,
    status: {},
  });
  using printed = printedErrors();
  await simulator.step(60_000);
  const { lines } = printed;
  assert.equal(lines.length, 1);
  assert.match(lines[0], /^embedded cluster: the Job batch-default\/a-broken-one does not advance: ./);
  assert.ok((job(simulator, "svea-hovratt-1870").status.succeeded ?? 0) > (running.status.succeeded ?? 0));
});

function pagesDone(writer: ReturnType<typeof memoryWriter>): number {
  return [...writer.files.keys()].filter((key) => key.endsWith("/progress.json"))
    .reduce((sum, key) => sum + writer.json(key).pages_done, 0);
}

for (const [what, gap] of [["a moment", 12_000], ["a night", 8 * 3_600_000]] as const) {
  Deno.test(`simulator: one restored after ${what} goes on with the pods and pages of before`, async () => {
    const writer = memoryWriter();
    const before = new Simulator(sampleOptions({ writer }));
    await before.step(200_000);
    const snapshot = JSON.parse(JSON.stringify(before.snapshot()));
    const pages = pagesDone(writer);
    const running = (simulator: Simulator) =>
      simulator.store.list("pods").filter(({ status }) => status.phase === "Running").map(({ metadata }) =>
        metadata.name
      );
    const after = new Simulator(sampleOptions({ writer, now: START + 200_000 + gap, restored: snapshot }));
    assert.equal(after.store.now(), START + 200_000 + gap);
    assert.equal(job(after, "svea-hovratt-1870").metadata.uid, job(before, "svea-hovratt-1870").metadata.uid);
    await after.step(8000);
    assert.ok(pagesDone(writer) > pages);
    // At most a minute is made up for, whatever the time between.
    assert.ok(pagesDone(writer) < pages + 90, `${pages} to ${pagesDone(writer)}`);
    // Pods that would still run after as much work without the restart do so after it.
    const known = running(before);
    await before.step(Math.min(gap, 60_000) + 8000);
    const expected = running(before).filter((name) => known.includes(name));
    assert.ok(expected.length > 0);
    assert.deepEqual(expected.filter((name) => !running(after).includes(name)), []);
  });
}

Deno.test("simulator: a restored one writes nothing twice", async () => {
  const first = memoryWriter();
  const second = memoryWriter();
  const before = new Simulator(sampleOptions({ writer: first }));
  await before.step(20_000);
  const snapshot = JSON.parse(JSON.stringify(before.snapshot()));
  const after = new Simulator(sampleOptions({ writer: second, now: START + 20_000, restored: snapshot }));
  first.files.clear();
  await before.step(5000);
  await after.step(5000);
  const pages = (writer: ReturnType<typeof memoryWriter>) =>
    [...writer.files.keys()].filter((key) => key.includes("/alto/")).sort();
  assert.deepEqual(pages(second), pages(first));
  const states = (simulator: Simulator) =>
    JSON.stringify(podsOf(simulator, "svea-hovratt-1870").map(({ metadata, status }) => [metadata.uid, status]));
  assert.equal(states(after), states(before));
});

Deno.test("simulator: a restored one never reuses a version, and has no earlier ones", () => {
  const before = new Simulator(sampleOptions());
  const snapshot = JSON.parse(JSON.stringify(before.snapshot()));
  const after = new Simulator(sampleOptions({ restored: snapshot }));
  assert.ok(after.store.version > before.store.version + 100_000);
  assert.equal(after.store.changesSince(before.store.version), null);
  assert.deepEqual(after.store.list("configmaps"), snapshot.store.objects.configmaps.toSorted(byNamespaceAndName));
});

Deno.test("simulator: run follows the real clock, reports a refusing writer once and tries again", async () => {
  let real = START;
  let refusing = true;
  const refusals: unknown[] = [];
  const written = Promise.withResolvers<string>();
  const writer = {
    put({ key }: ResultFile) {
      if (refusing) return Promise.reject(new Error("full"));
      if (key.endsWith("/alto/0001.xml")) written.resolve(key);
      return Promise.resolve();
    },
    remove: () => Promise.resolve(),
  };
  const simulator = new Simulator(sampleOptions({ writer }));
  simulator.run((error) => {
    refusals.push(error);
    refusing = false;
  }, () => real += 10_000);
  assert.match(await written.promise, /alto/);
  simulator.stop();
  assert.equal(refusals.length, 1);
  assert.ok(simulator.store.now() >= START + 10_000);
});

Deno.test("simulator: a process that slept does not make up for it", () => {
  const times = [START, START + 8 * 3_600_000];
  const simulator = new Simulator(sampleOptions());
  const before = job(simulator, "svea-hovratt-1870").status.succeeded ?? 0;
  const ticked = Promise.withResolvers<void>();
  simulator.run(() => {}, () => {
    const time = times.shift();
    if (time === undefined) throw new Error("looked at the clock too often");
    if (times.length === 0) queueMicrotask(ticked.resolve);
    return time;
  });
  return ticked.promise.then(() => {
    simulator.stop();
    assert.equal(simulator.store.now(), START + 8 * 3_600_000);
    const after = job(simulator, "svea-hovratt-1870").status.succeeded ?? 0;
    assert.ok(after <= before + 3, `${before} to ${after}`);
  });
});

Deno.test("simulator: no volume counts as done before its files are in the store, however slow that is", async () => {
  const memory = memoryWriter();
  let held: (() => void)[] = [];
  let slow = false;
  const put = async (file: ResultFile) => {
    if (slow) await new Promise<void>((resolve) => held.push(resolve));
    await memory.put(file);
  };
  const simulator = new Simulator(sampleOptions({ writer: { put, remove: memory.remove } }));
  await simulator.step(0);
  slow = true;
  const succeeded = () => job(simulator, "svea-hovratt-1870").status.succeeded ?? 0;
  const before = succeeded();
  let stepping = true;
  const steps = (async () => {
    while (succeeded() === before) await simulator.step(1000);
    stepping = false;
  })();
  while (stepping) {
    // Whenever nothing more happens by itself, one write of those that wait is let go.
    held.splice(0, 1)[0]?.();
    const done = new Set(indexes(job(simulator, "svea-hovratt-1870").status.completedIndexes ?? ""));
    for (const pod of podsOf(simulator, "svea-hovratt-1870")) {
      const index = Number(pod.metadata.labels?.["batch.kubernetes.io/job-completion-index"]);
      const volume = sampleCampaigns(7).find(({ name }) => name === "svea-hovratt-1870")?.volumes[index];
      const manifest = `${NAMESPACE}/swedish-lion-v2/${volume?.id}/manifest.json`;
      if (done.has(index)) assert.ok(memory.files.has(manifest), `${manifest} is missing`);
    }
    await Promise.resolve();
  }
  slow = false;
  for (const release of held) release();
  held = [];
  await steps;
});

function indexes(ranges: string): number[] {
  return ranges.split(",").filter(Boolean).flatMap((range) => {
    const [first, last = first] = range.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}
