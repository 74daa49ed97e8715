import assert from "node:assert/strict";
import { CATALOGUE, catalogueVolume } from "@/embedded/archive/catalogue.ts";
import { type Job, readIndexes } from "@/embedded/cluster/kube_objects.ts";
import { furtherCampaign } from "@/embedded/cluster/sample_campaigns.ts";
import { Simulator } from "@/embedded/cluster/simulator.ts";
import { CONVENTIONS, memoryWriter, sampleOptions, START } from "./sample_cluster.ts";

const NAMESPACE = "batch-default";
const DAY = 24 * 3_600_000;

function campaigns(simulator: Simulator): Job[] {
  return simulator.store.list("jobs").filter(({ metadata }) => metadata.labels?.app === CONVENTIONS.campaignApp);
}

function holds(job: Job, type: string): boolean {
  return job.status.conditions?.some((one) => one.type === type && one.status === "True") ?? false;
}

/** Campaigns whose Job is gone, by their status record. */
function reaped(simulator: Simulator): string[] {
  const live = new Set(campaigns(simulator).map(({ metadata }) => metadata.name));
  return simulator.store.list("configmaps", NAMESPACE)
    .flatMap(({ metadata: { name } }) => /^campaign-(.+)-status$/.exec(name)?.[1] ?? [])
    .filter((name) => !live.has(name));
}

/** The prefixes of the results of all campaigns that are listed. */
function listedVolumes(simulator: Simulator): Set<string> {
  const pipeline = `${CONVENTIONS.labelDomain}pipeline`;
  return new Set(
    simulator.store.list("configmaps", NAMESPACE).flatMap(({ metadata, data }) =>
      (data?.["volumes.txt"] ?? "").split("\n").filter(Boolean)
        .map((line) => `${metadata.labels?.[pipeline]}/${line.split("\t")[0]}`)
    ),
  );
}

/** `<pipeline>/<volume>` of a result's key. */
function volumeOf(key: string): string {
  return /^batch-default\/(?:status\/logs\/|sources\/)?([^/]+\/[^/]+?)(?:\.txt$|\/)/.exec(key)?.[1] ?? key;
}

Deno.test("sample world: over a week it continues, and old campaigns go with their files", async () => {
  const writer = memoryWriter();
  // Each day, three quarters of an hour of work.
  const options = sampleOptions({ writer, speed: 3 });
  let simulator = new Simulator(options);
  const seen = new Set<string>();
  let failures = 0;
  let successes = 0;
  for (let day = 0; day < 7; day++) {
    for (let minute = 0; minute < 15; minute += 5) {
      const from = simulator.store.version;
      await simulator.step(5 * 60_000);
      const jobs = campaigns(simulator);
      for (const { metadata } of jobs) seen.add(metadata.name);
      const when = `day ${day}, minute ${minute}`;
      assert.ok(jobs.some((job) => (job.status.active ?? 0) > 0), `nothing runs: ${when}`);
      assert.ok(jobs.some((job) => job.spec.suspend && !job.status.startTime), `nothing waits: ${when}`);
      assert.ok(
        jobs.some((job) => holds(job, "Complete")) || reaped(simulator).length > 0,
        `nothing succeeded: ${when}`,
      );
      const changed = (simulator.store.changesSince(from) ?? []).flatMap(({ object }) =>
        object?.kind === "Pod" ? object : []
      );
      failures += changed.filter(({ status }) => status.phase === "Failed").length;
      successes += changed.filter(({ status }) => status.phase === "Succeeded").length;
      assert.ok(jobs.length <= 26, `${jobs.length} Jobs: ${when}`);
      assert.ok(reaped(simulator).length <= 12, `${reaped(simulator).length} reaped campaigns: ${when}`);
    }
    const listed = listedVolumes(simulator);
    const orphans = [...writer.files.keys()].filter((key) => !listed.has(volumeOf(key)));
    assert.deepEqual(orphans.slice(0, 3), [], `${orphans.length} files of no campaign`);
    // Each hundredth body is created: all of them would take most of the time.
    const bytes = [...writer.files.values()].reduce((sum, file, n) => n % 100 === 0 ? sum + file.body.length : sum, 0);
    assert.ok(bytes < 1.2e6, `${bytes} bytes in a hundredth of the files`);
    const snapshot = JSON.parse(JSON.stringify(simulator.snapshot()));
    simulator = new Simulator({ ...options, now: START + (day + 1) * DAY, restored: snapshot });
  }
  assert.ok(seen.size > 30, `${seen.size} campaigns`);
  assert.ok(failures > 20 && successes > 200, `${failures} failures, ${successes} successes`);
  // Those of the first start end up like all others.
  assert.equal(simulator.store.get("configmaps", NAMESPACE, "campaign-sjomanshuset-visby-1844"), undefined);
});

Deno.test("sample world: in its first quarter of an hour campaigns start and succeed, volumes fail, and three work", async () => {
  for (const seed of [1, 2, 3]) {
    const simulator = new Simulator(sampleOptions({ seed }));
    await simulator.step(0);
    const started = () =>
      campaigns(simulator).filter(({ status }) => status.startTime).map(({ metadata }) => metadata.name);
    const succeeded = () => campaigns(simulator).filter((job) => holds(job, "Complete")).length;
    const failed = () =>
      campaigns(simulator).reduce((sum, { status }) => sum + readIndexes(status.failedIndexes ?? "").size, 0);
    const working = () =>
      campaigns(simulator).filter(({ metadata, status }) =>
        (status.active ?? 0) > 0 && metadata.name !== "kommerskollegium-kartor"
      ).length;
    const before = { started: started().length, succeeded: succeeded(), failed: failed() };
    for (let minute = 0; minute < 15; minute++) {
      assert.ok(working() >= (minute < 5 ? 2 : 3), `seed ${seed}, minute ${minute}: ${working()} work`);
      if (minute === 10) assert.ok(started().length > before.started, `seed ${seed}: nothing started`);
      await simulator.step(60_000);
    }
    assert.ok(succeeded() > before.succeeded, `seed ${seed}: nothing succeeded`);
    assert.ok(failed() > before.failed, `seed ${seed}: nothing failed`);
  }
});

Deno.test("sample world: a paused campaign resumes after two days, and another is paused", async () => {
  const options = sampleOptions();
  const before = new Simulator(options);
  await before.step(1000);
  const paused = (simulator: Simulator) =>
    campaigns(simulator).filter((job) => job.spec.suspend && job.status.startTime).map(({ metadata }) => metadata.name);
  assert.deepEqual(paused(before), ["radhusratten-stockholm-1651"]);
  const restored = JSON.parse(JSON.stringify(before.snapshot()));
  const after = new Simulator({ ...options, now: START + 2 * DAY, restored });
  await after.step(5000);
  assert.ok(!paused(after).includes("radhusratten-stockholm-1651"));
  for (let minute = 0; minute < 20 && paused(after).length === 0; minute++) await after.step(60_000);
  assert.equal(paused(after).length, 1);
});

Deno.test("sample world: deleted or replaced samples are neither restored nor removed", async () => {
  const writer = memoryWriter();
  const simulator = new Simulator(sampleOptions({ writer }));
  const { store } = simulator;
  await simulator.step(0);
  const old = store.get("jobs", NAMESPACE, "bergskollegium-1720");
  assert.ok(old);
  store.deleteWithPods("jobs", old);
  const { uid: _uid, ...metadata } = old.metadata;
  const own = store.create("jobs", { ...old, metadata, status: {}, spec: { ...old.spec, suspend: true } });
  await simulator.step(2000);
  assert.equal(store.get("jobs", NAMESPACE, "bergskollegium-1720")?.metadata.uid, own.metadata.uid);
  store.deleteWithPods("jobs", own);
  assert.deepEqual(simulator.snapshot().samples.samples.filter(({ name }) => name === "bergskollegium-1720"), []);
});

Deno.test("further samples: names are labels, volumes are the archive's, and the seed alone decides", () => {
  const names = new Set<string>();
  for (let number = 0; number < 4 * CATALOGUE.length; number++) {
    const campaign = furtherCampaign(3, number, 1);
    assert.match(campaign.name, /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/);
    // The name of a pod has an index behind it, and a suffix.
    assert.ok(campaign.name.length <= 50, campaign.name);
    assert.ok(!names.has(campaign.name), campaign.name);
    names.add(campaign.name);
    for (const volume of campaign.volumes) {
      assert.match(volume.id, /^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/);
      const found = catalogueVolume(3, volume.id);
      assert.equal(found === null, volume.trouble?.kind === "manifest");
      if (found) assert.equal(volume.pages, found.pages);
      const { trouble } = volume;
      if (trouble && "page" in trouble) assert.ok(trouble.page >= 1 && trouble.page <= volume.pages);
    }
    const again = furtherCampaign(3, number, 1);
    assert.deepEqual(
      again.volumes.map(({ id, trouble }) => [id, trouble]),
      campaign.volumes.map(({ id, trouble }) => [id, trouble]),
    );
  }
  assert.notEqual(furtherCampaign(3, 0, 1).name, furtherCampaign(4, 0, 1).name);
  assert.equal(new Set(CATALOGUE.map(({ code }) => code)).size, CATALOGUE.length);
});
