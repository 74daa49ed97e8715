import assert from "node:assert/strict";
import { parse } from "yaml";
import type { ConfigMap } from "@/embedded/cluster/kube_objects.ts";
import { readJob } from "@/lib/campaigns/projection/cluster_objects.ts";
import { readFailures } from "@/lib/campaigns/projection/status_record.ts";
import { RecordRejected, type RecordWriter, recordWriter } from "@/lib/campaigns/records/campaign_records.ts";
import { clusterConnection } from "@/lib/kubernetes/cluster_address.ts";
import { ClusterUnavailable } from "@/lib/kubernetes/connection.ts";
import { conventions, job, jobObject, names } from "@/tests/lib/campaigns/projection/cluster_fixtures.ts";
import { FaultyCluster, JOBS, MAPS } from "@/tests/lib/kubernetes/faulty_cluster.ts";

const { summaryManager, failuresManager, applyManager } = conventions;
const RECORD = "campaign-lund-status";

interface Scene {
  readonly server: FaultyCluster;
  readonly writer: RecordWriter;
}

async function withServer(use: (scene: Scene) => Promise<void>): Promise<void> {
  await using server = new FaultyCluster();
  server.put(JOBS, jobObject());
  const connection = await clusterConnection({ url: server.url }, { now: () => 0 });
  await use({ server, writer: recordWriter({ connection, conventions, resultsUrl: "https://r" }) });
}

/** The keys of `data` that a manager applied. */
function appliedKeys(map: ConfigMap | undefined, manager: string): string[] {
  const entries = map?.metadata.managedFields ?? [];
  const entry = entries.find((entry) => entry.manager === manager && entry.operation === "Apply");
  return Object.keys(Object(entry?.fieldsV1["f:data"])).map((key) => key.slice("f:".length));
}

Deno.test("record writer: a first record has labels, its summary and its failures, each under its manager", () =>
  withServer(async ({ server, writer }) => {
    assert.equal(await writer.write(job(), new Map([["a", "no page"]])), "written");
    const map = server.configMap(RECORD);
    assert.deepEqual(map?.metadata.labels, {
      [names.managedBy]: "converter",
      [names.campaign]: "lund-file",
      [names.pipeline]: "lion-v2",
      [names.kind]: "status",
    });
    assert.deepEqual(map?.data, {
      phase: "Running",
      volumesTotal: "4",
      volumesDone: "0",
      volumesFailed: "0",
      startedAt: "2025-11-20T08:01:00Z",
      resultsBase: "https://r/batch-default/lion-v2",
      jobUid: "uid-1",
      failedVolumes: '[{"id":"a","reason":"no page"}]',
      failedVolumesJobUid: "uid-1",
    });
    assert.deepEqual(appliedKeys(map, failuresManager), ["failedVolumes", "failedVolumesJobUid"]);
    const [first, second] = server.patches;
    assert.equal(first.path, `/api/v1/namespaces/batch-default/configmaps/${RECORD}`);
    assert.equal(first.headers.get("content-type"), "application/apply-patch+yaml");
    assert.deepEqual([...first.query], [["fieldManager", summaryManager]]);
    assert.deepEqual([...second.query], [["fieldManager", failuresManager], ["force", "true"]]);
    assert.equal(JSON.parse(second.text).metadata.uid, map?.metadata.uid);

    assert.equal(await writer.write(job(), new Map([["a", ""]])), "unchanged");
    assert.equal(await writer.write(job(), null), "unchanged");
    assert.equal(server.patches.length, 2);
  }));

Deno.test("record writer: a list leaves the failures alone, and the Job as it stands now is what is recorded", () =>
  withServer(async ({ server, writer }) => {
    await writer.write(job(), new Map([["a", "x"]]));
    server.put(JOBS, jobObject({ status: { completedIndexes: "0-2" } }));
    assert.equal(await writer.write(job(), null), "written");
    const data = server.configMap(RECORD)?.data;
    assert.deepEqual([data?.volumesDone, data?.failedVolumes], ["3", '[{"id":"a","reason":"x"}]']);
    assert.equal(server.patches.length, 3);
  }));

Deno.test("record writer: nothing is written for a Job that is gone, was replaced, or is no campaign", () =>
  withServer(async ({ server, writer }) => {
    const cases = [
      null,
      jobObject({ metadata: { uid: "uid-2" } }),
      jobObject({ labels: { app: "other" } }),
      jobObject({ labels: { app: conventions.warmupApp } }),
    ];
    for (const object of cases) {
      server.remove(JOBS, "lund");
      if (object) server.put(JOBS, object);
      assert.equal(await writer.write(job(), new Map([["a", "x"]])), "gone");
    }
    const nameless = readJob(jobObject({ metadata: { uid: undefined } }), conventions);
    assert.ok(nameless);
    server.put(JOBS, jobObject({ metadata: { uid: undefined } }));
    assert.equal(await writer.write(nameless, null), "gone");
    assert.deepEqual([server.patches.length, server.configMap(RECORD)], [0, undefined]);
  }));

Deno.test("record writer: a record that was pruned between reading and writing does not come back", async () => {
  for (const failures of [null, new Map([["b", "y"]])]) {
    await withServer(async ({ server, writer }) => {
      await writer.write(job(), new Map([["a", "x"]]));
      if (!failures) server.put(JOBS, jobObject({ status: { completedIndexes: "0" } }));
      server.fault = ({ method }) => {
        if (method === "PATCH") server.remove(MAPS, RECORD);
        return null;
      };
      assert.equal(await writer.write(job(), failures), "contended");
      assert.equal(server.configMap(RECORD), undefined);
    });
  }
});

Deno.test("record writer: a record that was created again between reading and writing is left to a later write", () =>
  withServer(async ({ server, writer }) => {
    await writer.write(job(), new Map([["a", "x"]]));
    server.fault = ({ method }) => {
      if (method === "PATCH") {
        server.remove(MAPS, RECORD);
        server.apply(RECORD, { phase: "Running" });
      }
      return null;
    };
    assert.equal(await writer.write(job(), new Map([["b", "y"]])), "contended");
    assert.deepEqual(server.configMap(RECORD)?.data, { phase: "Running" });
    server.fault = ({ method }) => method === "PATCH" ? Response.json({ code: 422 }, { status: 422 }) : null;
    await assert.rejects(writer.write(job(), new Map([["b", "y"]])), RecordRejected);
  }));

Deno.test("record writer: an ending that the apply tool recorded stays, the failures are added", () =>
  withServer(async ({ server, writer }) => {
    const data = { phase: "Succeeded", volumesTotal: "4", volumesDone: "4", volumesFailed: "0", jobUid: "uid-1" };
    server.apply(RECORD, data, applyManager);
    assert.equal(await writer.write(job(), new Map([["a", "x"]])), "written");
    const map = server.configMap(RECORD);
    assert.deepEqual(map?.data, {
      ...data,
      startedAt: "2025-11-20T08:01:00Z",
      resultsBase: "https://r/batch-default/lion-v2",
      failedVolumes: '[{"id":"a","reason":"x"}]',
      failedVolumesJobUid: "uid-1",
    });
    assert.deepEqual(appliedKeys(map, applyManager), Object.keys(data).sort());
    assert.equal(await writer.write(job(), new Map([["a", "x"]])), "unchanged");
  }));

Deno.test("record writer: another Job's ending is taken over only from the apply tool's record as it was read", () =>
  withServer(async ({ server, writer }) => {
    const data = { phase: "Succeeded", finishedAt: "2025-11-01T00:00:00Z", jobUid: "uid-0" };
    server.apply(RECORD, data, applyManager);
    server.fault = ({ method }) => {
      if (method === "PATCH") server.apply(RECORD, { volumesDone: "4" });
      return null;
    };
    assert.equal(await writer.write(job(), null), "contended");
    assert.deepEqual(server.configMap(RECORD)?.data, { ...data, volumesDone: "4" });

    server.fault = null;
    assert.equal(await writer.write(job(), null), "written");
    const { phase, finishedAt, jobUid } = server.configMap(RECORD)?.data ?? {};
    assert.deepEqual([phase, finishedAt, jobUid], ["Running", "", "uid-1"]);
    assert.equal(server.patches.at(-1)?.query.get("force"), "true");
  }));

Deno.test("record writer: failures move from the summary of an older version to their own manager and survive", () =>
  withServer(async ({ server, writer }) => {
    const failedVolumes = '[{"id":"a","reason":"x"}]';
    const data = { phase: "Queued", jobUid: "uid-1", failedVolumes };
    server.apply(RECORD, data, summaryManager);
    const owns = (manager: string) => appliedKeys(server.configMap(RECORD), manager).includes("failedVolumes");
    assert.equal(await writer.write(job(), null), "written");
    assert.equal(server.configMap(RECORD)?.data?.failedVolumes, failedVolumes);
    assert.ok(owns(summaryManager));
    await writer.write(job(), new Map());
    assert.ok(owns(failuresManager));
    server.put(JOBS, jobObject({ status: { completedIndexes: "0" } }));
    await writer.write(job(), null);
    assert.ok(!owns(summaryManager));
    assert.equal(server.configMap(RECORD)?.data?.failedVolumes, failedVolumes);
  }));

Deno.test("record writer: whatever a pod says arrives as it is, in JSON that is YAML too", () =>
  withServer(async ({ server, writer }) => {
    const sentence = 'line\u2028end \u0085 \u007f \u0000 \ufeff "x": {#} \u{1F600} å\t\n\\';
    await writer.write(job(), new Map([["a", sentence], ["b", "half \ud800"]]));
    const failures = readFailures(server.configMap(RECORD)?.data?.failedVolumes ?? null);
    assert.deepEqual([...failures], [["a", sentence], ["b", "half \ud800"]]);
    const text = server.patches[1].text;
    assert.deepEqual(parse(text, { version: "1.1" }), JSON.parse(text));
    // deno-lint-ignore no-control-regex
    assert.doesNotMatch(text, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff]/);
    assert.doesNotMatch(text.replaceAll("\\\\", ""), /\\ud[89a-f]/i);
  }));

Deno.test("record writer: distinguishes a failed write from a failed read", () =>
  withServer(async ({ server, writer }) => {
    for (const status of [400, 403, 404, 415, 422, 429, 500, 503]) {
      server.fault = ({ method }) => method === "PATCH" ? new Response("secret", { status }) : null;
      await assert.rejects(writer.write(job(), null), (error) => {
        assert.ok(error instanceof RecordRejected);
        assert.equal(error.message, `status ${status}`);
        return true;
      });
      server.fault = ({ method }) => method === "GET" ? 500 : null;
      await assert.rejects(writer.write(job(), null), ClusterUnavailable);
    }
    server.fault = ({ method }) => method === "PATCH" ? 409 : null;
    assert.equal(await writer.write(job(), null), "contended");
  }));

Deno.test("record writer: names the right that its account lacks", () =>
  withServer(async ({ server, writer }) => {
    for (const resource of ["jobs", "configmaps"]) {
      server.fault = ({ method, path }) => method === "GET" && path.includes(`/${resource}/`) ? 403 : null;
      await assert.rejects(writer.write(job(), null), new RecordRejected(`status 403 of get ${resource}`));
    }
  }));
