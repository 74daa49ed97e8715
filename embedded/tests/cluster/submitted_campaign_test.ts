import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { volumeFinder } from "@/embedded/archive/catalogue.ts";
import type { EmbeddedCluster } from "@/embedded/cluster/cluster_server.ts";
import type { Job, Pod } from "@/embedded/cluster/kube_objects.ts";
import { sampleVolumes } from "@/embedded/cluster/sample_campaigns.ts";
import { SubmittedCampaigns } from "@/embedded/cluster/submitted_campaign.ts";
import { CONVENTIONS } from "@/lib/campaigns/projection/conventions.ts";
import { memoryWriter, START, withSampleCluster } from "./sample_cluster.ts";

const NAMESPACE = "batch-default";
const JOBS = `/apis/batch/v1/namespaces/${NAMESPACE}/jobs`;
const MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
const ARCHIVE = "http://127.0.0.1:9000";
const RESULTS = `${NAMESPACE}/swedish-lion-v2`;

interface Answer {
  readonly status: number;
  readonly message: string;
  readonly kind: string;
}

interface Submitting {
  readonly cluster: EmbeddedCluster;
  readonly writer: ReturnType<typeof memoryWriter>;
  send(method: string, path: string, body?: unknown, type?: string): Promise<Answer>;
  job(name?: string): Job | undefined;
  pods(): Pod[];
  map: ReturnType<typeof sampleFile>["map"];
  sample: ReturnType<typeof sampleFile>["job"];
}

/** The ConfigMap and the Job of the file in the documentation. */
function sampleFile() {
  const text = Deno.readTextFileSync(new URL("../../../docs/examples/campaign.yaml", import.meta.url));
  const [map, job] = parseAllDocuments(text).map((document) => document.toJS());
  return { map, job };
}

async function withCluster(use: (submitting: Submitting) => Promise<void>): Promise<void> {
  const writer = memoryWriter();
  const { map, job } = sampleFile();
  await withSampleCluster((cluster) =>
    use({
      cluster,
      writer,
      map,
      sample: job,
      async send(method, path, body, type = "application/json") {
        const answer = await fetch(`${cluster.url}${path}`, {
          method,
          body: body === undefined ? undefined : JSON.stringify(body),
          headers: { "content-type": type },
        });
        const { message = "", kind } = await answer.json();
        return { status: answer.status, message, kind };
      },
      job: (name = "my-first-campaign") => cluster.simulator.store.get("jobs", NAMESPACE, name),
      pods: () =>
        cluster.simulator.store.list("pods")
          .filter(({ metadata }) => metadata.labels?.["batch.kubernetes.io/job-name"] === "my-first-campaign"),
    }), { writer, conventions: CONVENTIONS.stackroom });
}

function testCluster(name: string, ...given: Parameters<typeof withCluster>): void {
  Deno.test(name, () => withCluster(...given));
}

function ended(job: Job | undefined): string[] {
  return (job?.status.conditions ?? []).filter(({ status }) => status === "True").map(({ type }) => type);
}

testCluster(
  "submitted: the campaign of the documentation runs over the archive's volumes and leaves its results",
  async ({ cluster, writer, send, job, pods, map, sample }) => {
    assert.equal((await send("GET", `${JOBS}/my-first-campaign`)).status, 404);
    assert.equal(
      (await send("POST", `${MAPS}?fieldManager=kubectl-client-side-apply&fieldValidation=Strict`, map)).status,
      201,
    );
    assert.equal(
      (await send("POST", `${JOBS}?fieldManager=kubectl-client-side-apply&fieldValidation=Strict`, sample)).status,
      201,
    );
    const lines = cluster.simulator.store.get("configmaps", NAMESPACE, "campaign-my-first-campaign")?.data
      ?.["volumes.txt"];
    assert.ok(lines?.includes(`\t${ARCHIVE}/iiif/SE-RA-420-1720-B-0101/manifest.json\n`), lines);
    await cluster.simulator.step(30_000);
    assert.equal(job()?.status.active, 2);
    assert.ok(pods().every(({ status }) => status.phase === "Running"));
    assert.ok(writer.json(`${RESULTS}/letters-1720-01/progress.json`).pages_done > 0);
    await cluster.simulator.step(600_000);
    assert.deepEqual(ended(job()), ["SuccessCriteriaMet", "Complete"]);
    assert.equal(job()?.status.completedIndexes, "0-4");
    const manifest = writer.json(`${RESULTS}/letters-1720-02/manifest.json`);
    assert.equal(manifest.source_manifest, `${ARCHIVE}/iiif/SE-RA-420-1720-B-0102/manifest.json`);
    assert.equal(manifest.pages_failed, 0);
    // The same page of the archive has the same text, whatever the volume is called.
    const alto = (volume: string) => writer.text(`${RESULTS}/${volume}/alto/0001.xml`).replace(/ PC="[^"]*"/, "");
    assert.equal(alto("letters-1720-02"), alto("SE-RA-420-1720-B-0102"));
    assert.equal(alto("loose-sheets"), alto("SE-RA-420-1720-B-0106"));
    const sheets = writer.json(`${RESULTS}/loose-sheets/manifest.json`);
    assert.deepEqual([sheets.pages, sheets.source_manifest], [3, null]);
    assert.equal(sheets.page_sources["0003"], `${ARCHIVE}/image/SE-RA-420-1720-B-0106/0003.png`);
    assert.match(writer.text(`${NAMESPACE}/status/logs/swedish-lion-v2/letters-1720-01.txt`), /COMPLETE \d+ pages\n$/);
  },
);

testCluster(
  "submitted: applied again it stays unchanged, and its Job goes with its TTL alone",
  async ({ cluster, send, job, map, sample }) => {
    const apply = (path: string, body: unknown) => send("PATCH", path, body, "application/merge-patch+json");
    const body = { ...sample, spec: { ...sample.spec, ttlSecondsAfterFinished: 1800 } };
    assert.equal((await send("POST", MAPS, map)).status, 201);
    assert.equal((await send("POST", JOBS, body)).status, 201);
    await cluster.simulator.step(30_000);
    const before = job();
    assert.equal((await apply(`${MAPS}/campaign-my-first-campaign`, map)).status, 200);
    assert.equal((await apply(`${JOBS}/my-first-campaign`, { spec: { suspend: false } })).status, 200);
    assert.equal(job(), before);
    const refused = await apply(`${JOBS}/my-first-campaign`, { spec: { completions: 3 } });
    assert.deepEqual([refused.status, /only suspend, parallelism/.test(refused.message)], [422, true]);
    await cluster.simulator.step(600_000);
    assert.ok(ended(job()).includes("Complete"));
    await cluster.simulator.step(1_200_000);
    assert.ok(job());
    await cluster.simulator.step(800_000);
    assert.equal(job(), undefined);
    assert.ok(cluster.simulator.store.get("configmaps", NAMESPACE, "campaign-my-first-campaign"));
  },
);

testCluster(
  "submitted: a campaign is read once for all its pods, and again when its ConfigMap or pipeline changes",
  async ({ cluster, send, job, map, sample }) => {
    await send("POST", MAPS, map);
    await send("POST", JOBS, sample);
    const { store } = cluster.simulator;
    const conventions = CONVENTIONS.stackroom;
    const findVolume = volumeFinder(7, sampleVolumes(7));
    const campaigns = new SubmittedCampaigns(store, { conventions, archiveUrl: ARCHIVE, findVolume });
    const current = () => {
      const found = job();
      assert.ok(found);
      return campaigns.campaignOf(found);
    };
    const first = current();
    assert.equal(first.volumes[0].id, "letters-1720-01");
    await cluster.simulator.step(5000);
    assert.equal(current(), first);
    const text = map.data["volumes.txt"].replace("letters-1720-01", "renamed");
    await send("PUT", `${MAPS}/campaign-my-first-campaign`, { ...map, data: { "volumes.txt": text } });
    const second = current();
    assert.equal(second.volumes[0].id, "renamed");
    const labels = { metadata: { labels: { [`${conventions.labelDomain}pipeline`]: "another" } } };
    await send("PATCH", `${JOBS}/my-first-campaign`, labels, "application/merge-patch+json");
    assert.notEqual(current(), second);
    const third = current();
    const { uid = "" } = job()?.metadata ?? {};
    campaigns.retain(new Set([uid]));
    assert.equal(current(), third);
    campaigns.retain(new Set());
    assert.notEqual(current(), third);
  },
);

for (
  const [what, hasLabel, hasJob] of [["a ConfigMap with", true, false], ["a Job with", false, true]] as const
) {
  Deno.test(`submitted: results that a removed sample shares with ${what} its pipeline label stay`, () =>
    withCluster(async ({ cluster, writer, send, map, sample }) => {
      const own = "SE-RA-420-1720-B-0103";
      const text = `${own}\t${ARCHIVE}/iiif/${own}/manifest.json\n`;
      const metadata = { ...map.metadata, ...(!hasLabel && { labels: {} }) };
      assert.equal((await send("POST", MAPS, { ...map, metadata, data: { "volumes.txt": text } })).status, 201);
      // A suspended one writes no results itself.
      const spec = { ...sample.spec, completions: 1, suspend: true };
      if (hasJob) assert.equal((await send("POST", JOBS, { ...sample, spec })).status, 201);
      await cluster.simulator.step(0);
      const { store } = cluster.simulator;
      // Once more than twelve samples are gone, the first of them goes with its files.
      const campaigns = () =>
        store.list("jobs", NAMESPACE).filter(({ metadata }) =>
          metadata.labels?.app === "campaign-batch" && metadata.name !== "my-first-campaign"
        );
      for (let round = 0; round < 20 && writer.files.has(`${RESULTS}/SE-RA-420-1720-B-0104/manifest.json`); round++) {
        for (const job of campaigns().filter((one) => ended(one).length > 1 || round > 0)) {
          store.deleteWithPods("jobs", job);
        }
        await cluster.simulator.step(10_000);
      }
      assert.ok(!writer.files.has(`${RESULTS}/SE-RA-420-1720-B-0104/manifest.json`));
      assert.ok(writer.files.has(`${RESULTS}/${own}/manifest.json`));
    }));
}

testCluster(
  "submitted: an unreadable volume fails permanently, with the reason",
  async ({ cluster, writer, send, job, pods, map, sample }) => {
    const lines = [
      "elsewhere\thttps://iiif.example.org/manifest.json",
      `lost\t${ARCHIVE}/iiif/no-such-volume/manifest.json`,
      `no-manifest\t${ARCHIVE}/iiif/sample-not-a-manifest/manifest.json`,
      `../up\t${ARCHIVE}/iiif/SE-RA-420-1720-B-0101/manifest.json`,
      `beyond\timages:${ARCHIVE}/image/SE-RA-420-1720-B-0101/9999.png`,
      "no-source",
    ];
    const spec = { ...sample.spec, completions: 7, parallelism: 7 };
    await send("POST", JOBS, { ...sample, spec });
    await cluster.simulator.step(10_000);
    // Its ConfigMap is not there yet.
    assert.ok(pods().length === 7 && pods().every(({ status }) => status.phase === "Pending"));
    await send("POST", MAPS, { ...map, data: { "volumes.txt": lines.join("\n") } });
    await cluster.simulator.step(20_000);
    assert.equal(job()?.status.failedIndexes, "0-6");
    const errors = pods().sort((a, b) => a.metadata.name < b.metadata.name ? -1 : 1)
      .map(({ status }) => JSON.parse(status.containerStatuses?.[0].state.terminated?.message ?? ""));
    assert.deepEqual(errors.map(({ stage }) => stage), [
      "setup",
      "setup",
      "setup",
      "config",
      "setup",
      "setup",
      "config",
    ]);
    assert.match(errors[0].error, /not in the embedded archive/);
    assert.match(errors[1].error, /404/);
    assert.match(errors[2].error, /not a IIIF manifest/);
    assert.match(errors[3].error, /an id has up to 63/);
    assert.match(errors[6].error, /no line for the index 6/);
    assert.ok(writer.files.has(`${NAMESPACE}/status/logs/swedish-lion-v2/elsewhere.txt`));
    assert.deepEqual([...writer.files.keys()].filter((key) => key.includes("..") || key.includes("//")), []);
  },
);

testCluster(
  "submitted: the queue starts a Job that names it, and a pipeline of its own waits for its warm-up",
  async ({ cluster, writer, send, job, pods, map, sample }) => {
    const pipeline = { ...sample.metadata.labels, "campaigns.stackroom.dev/pipeline": "mine-v1" };
    const document =
      "steps:\n  - step: TextRecognition\n    settings: {model_settings: {model: me/mine, revision: abc}}\n";
    const mount = { name: "pipeline", configMap: { name: "pipeline-mine-v1" } };
    const { template } = sample.spec;
    const volumes = [template.spec.volumes[0], mount];
    await send("POST", MAPS, map);
    await send("POST", MAPS, { ...map, metadata: { name: "pipeline-mine-v1" }, data: { "pipeline.yaml": document } });
    await send("POST", JOBS, {
      ...sample,
      metadata: { ...sample.metadata, labels: { ...pipeline, "kueue.x-k8s.io/queue-name": "campaigns" } },
      spec: { ...sample.spec, suspend: true, template: { spec: { ...template.spec, volumes } } },
    });
    await cluster.simulator.step(5000);
    assert.equal(job()?.spec.suspend, false);
    assert.ok(pods().length === 2 && pods().every(({ status }) => status.phase === "Pending"));
    const warmup = {
      ...sample,
      metadata: { name: "warmup-mine-v1", labels: { ...pipeline, app: "campaign-warmup" } },
      spec: { template: { spec: { restartPolicy: "Never", containers: [{ name: "warmup", image: "x" }] } } },
    };
    assert.equal((await send("POST", JOBS, warmup)).status, 201);
    await cluster.simulator.step(60_000);
    assert.ok(ended(job("warmup-mine-v1")).includes("Complete"));
    await cluster.simulator.step(600_000);
    assert.ok(ended(job()).includes("Complete"));
    assert.equal(writer.json(`${NAMESPACE}/mine-v1/letters-1720-01/manifest.json`).pipeline_yaml, document);
    const log = writer.text(`${NAMESPACE}/status/logs/mine-v1/letters-1720-01.txt`);
    assert.match(log, /me\/mine revision abc/);
  },
);

testCluster(
  "submitted: a Job that the workers cannot run is a 422 that names the field",
  async ({ send, sample, job }) => {
    const { spec, metadata } = sample;
    const pod = spec.template.spec;
    const podOf = (changes: Record<string, unknown>) => ({ template: { spec: { ...pod, ...changes } } });
    const cases: [field: string, changes: Record<string, unknown>][] = [
      ["metadata.labels", { metadata: { ...metadata, labels: {} } }],
      ["metadata.name", { metadata: { ...metadata, name: "n".repeat(64) } }],
      ["metadata.name", { metadata: { ...metadata, name: "Upper" } }],
      ["spec.completionMode", { spec: { ...spec, completionMode: undefined } }],
      ["spec.completions", { spec: { ...spec, completions: 10_001 } }],
      ["spec.parallelism", { spec: { ...spec, parallelism: "2" } }],
      ["spec.suspend", { spec: { ...spec, suspend: "yes" } }],
      ["spec.activeDeadlineSeconds", { spec: { ...spec, activeDeadlineSeconds: 5 } }],
      ["spec.podFailurePolicy.rules", { spec: { ...spec, podFailurePolicy: { rules: [{ action: "FailJob" }] } } }],
      ["spec.template.spec.restartPolicy", { spec: { ...spec, ...podOf({ restartPolicy: "OnFailure" }) } }],
      ["spec.template.spec.containers[0].name", {
        spec: { ...spec, ...podOf({ containers: [{ name: "x", image: "y" }] }) },
      }],
      ["spec.template.spec.containers", { spec: { ...spec, ...podOf({ containers: [{ name: "wrapper" }] }) } }],
      ["spec.template.spec.initContainers", {
        spec: { ...spec, ...podOf({ initContainers: [{ name: "x", image: "y" }] }) },
      }],
      ["spec.template.spec.volumes", { spec: { ...spec, ...podOf({ volumes: [] }) } }],
      ...[null, "x", { name: "x", configMap: "y" }, { name: "x", configMap: { name: 5 } }].map((
        volume,
      ): [string, Record<string, unknown>] => [
        "spec.template.spec.volumes",
        { spec: { ...spec, ...podOf({ volumes: [...pod.volumes, volume] }) } },
      ]),
      ["spec.template.spec.volumes", {
        metadata: { name: "warmup-x", labels: { ...metadata.labels, app: "campaign-warmup" } },
        spec: {
          template: {
            spec: { restartPolicy: "Never", containers: [{ name: "warmup", image: "x" }], volumes: "abc" },
          },
        },
      }],
    ];
    for (const [field, changes] of cases) {
      const { status, message } = await send("POST", JOBS, { ...sample, ...changes });
      assert.deepEqual([status, message.includes(`: ${field}`)], [422, true], `${field}: ${message}`);
    }
    assert.equal((await send("POST", JOBS, { ...sample, kind: "Pod" })).status, 400);
    assert.equal((await send("POST", JOBS.replace(NAMESPACE, "absent"), sample)).status, 404);
    assert.equal((await send("POST", `${JOBS}?dryRun=All`, sample)).status, 201);
    assert.equal(job(), undefined);
    assert.equal((await send("POST", JOBS, sample)).status, 201);
    assert.equal((await send("POST", JOBS, sample)).status, 409);
    assert.equal(job()?.metadata.creationTimestamp, new Date(START).toISOString().replace(".000", ""));
  },
);
