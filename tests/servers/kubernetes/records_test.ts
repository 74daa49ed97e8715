import assert from "node:assert/strict";
import { type BatchJob, readJob } from "@/lib/campaigns/projection/cluster_objects.ts";
import { readFailures } from "@/lib/campaigns/projection/status_record.ts";
import {
  CampaignRecords,
  RecordRejected,
  type RecordWriter,
  recordWriter,
} from "@/lib/campaigns/records/campaign_records.ts";
import type { LogEntry } from "@/lib/http/access_log.ts";
import { clusterConnection } from "@/lib/kubernetes/cluster_address.ts";
import type { ClusterConnection } from "@/lib/kubernetes/connection.ts";
import { conventions, names } from "@/tests/lib/campaigns/projection/cluster_fixtures.ts";
import { KUBERNETES, makeCampaignJob, type Real, withNamespace } from "./real_cluster.ts";

const ignore = KUBERNETES === undefined;
const { summaryManager, failuresManager, applyManager } = conventions;
const RESULTS_URL = "https://campaigns.example.org/results";

interface Scene extends Real {
  readonly job: BatchJob;
  readonly writer: RecordWriter;
  /** Done before every write that comes, after what decided it was read. */
  beforeWrite: () => Promise<unknown>;
  /** The record's path. */
  readonly path: string;
  record(): Promise<StoredMap>;
  /** Applies keys to the record as the tool that submits campaigns does. */
  applyTool(data: Readonly<Record<string, string>>): Promise<unknown>;
}

interface StoredMap {
  readonly metadata: {
    readonly uid: string;
    readonly labels: Readonly<Record<string, string>>;
    readonly managedFields: readonly {
      readonly manager: string;
      readonly operation: string;
      readonly fieldsV1: { readonly "f:data": object };
    }[];
  };
  readonly data: Readonly<Record<string, string>>;
}

async function withCampaign(use: (scene: Scene) => Promise<void>): Promise<void> {
  await withNamespace(async (real) => {
    const job = readJob(await makeCampaignJob(real, "lund"), conventions);
    assert.ok(job);
    const path = `/api/v1/namespaces/${real.namespace}/configmaps/campaign-lund-status`;
    const connection = await clusterConnection({ kind: "kubeconfig", path: KUBERNETES ?? "" }, { now: Date.now });
    const interrupted: ClusterConnection = {
      async send(request) {
        if (request.method === "PATCH") await scene.beforeWrite();
        return await connection.send(request);
      },
    };
    const scene: Scene = {
      ...real,
      job,
      writer: recordWriter({ connection: interrupted, conventions, resultsUrl: RESULTS_URL }),
      beforeWrite: () => Promise.resolve(),
      path,
      record: async () => Object(await real.call("GET", path)),
      applyTool: (data) =>
        real.call(
          "PATCH",
          `${path}?fieldManager=${applyManager}&force=true`,
          { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "campaign-lund-status" }, data },
          "application/apply-patch+yaml",
        ),
    };
    await use(scene);
  });
}

/** The keys of `data` by the manager that applied them. */
function owners({ metadata }: StoredMap): Record<string, string[]> {
  return Object.fromEntries(metadata.managedFields.map(({ manager, operation, fieldsV1 }) => {
    assert.equal(operation, "Apply");
    return [manager, Object.keys(fieldsV1["f:data"]).map((key) => key.slice(2)).sort()];
  }));
}

async function isGone({ call, namespace }: Scene): Promise<boolean> {
  const { items } = Object(await call("GET", `/api/v1/namespaces/${namespace}/configmaps`));
  return !items.some((item: StoredMap & { metadata: { name: string } }) =>
    item.metadata.name === "campaign-lund-status"
  );
}

Deno.test(
  "kubernetes records: each half has its manager, and what is known is not written again",
  { ignore },
  async () => {
    await withCampaign(async ({ writer, job, record }) => {
      const sentence = 'line\u2028end \u0085 \u007f \u0000 \ufeff "x": {#} \u{1F600} å\t\n\\';
      assert.equal(await writer.write(job, new Map([["a", sentence]])), "written");
      const first = await record();
      assert.deepEqual(first.metadata.labels, {
        [names.managedBy]: conventions.managedBy,
        [names.campaign]: "lund-file",
        [names.pipeline]: "lion-v2",
        [names.kind]: "status",
      });
      const summary = ["jobUid", "phase", "resultsBase", "startedAt", "volumesDone", "volumesFailed", "volumesTotal"];
      const mine = owners(first);
      assert.deepEqual(mine[failuresManager], ["failedVolumes", "failedVolumesJobUid"]);
      assert.deepEqual(
        mine[summaryManager].filter((key) => key !== "startedAt"),
        summary.filter((k) => k !== "startedAt"),
      );
      assert.deepEqual([first.data.phase, first.data.volumesTotal, first.data.jobUid], ["Running", "4", job.uid]);
      assert.deepEqual([...readFailures(first.data.failedVolumes)], [["a", sentence]]);

      // Once the Job controller has told when the Job began, nothing more changes.
      while (!(await record()).data.startedAt) await writer.write(job, null);
      assert.equal(await writer.write(job, new Map([["a", " "]])), "unchanged");
      assert.equal(await writer.write(job, new Map([["b", "torn"]])), "written");
      assert.equal(await writer.write(job, null), "unchanged");
      const { data } = await record();
      assert.deepEqual([...readFailures(data.failedVolumes)], [["b", "torn"], ["a", sentence]]);
    });
  },
);

Deno.test("kubernetes records: a record that is pruned before the write stays away", { ignore }, async () => {
  await withCampaign(async (scene) => {
    const { writer, job, call, path } = scene;
    await writer.write(job, new Map([["a", "x"]]));
    scene.beforeWrite = () => call("DELETE", path);
    assert.equal(await writer.write(job, new Map([["b", "y"]])), "contended");
    assert.equal(await isGone(scene), true);
  });
});

Deno.test("kubernetes records: a record that is made anew before the write is contention", { ignore }, async () => {
  await withCampaign(async (scene) => {
    const { writer, job, call, path, record, applyTool } = scene;
    await writer.write(job, new Map([["a", "x"]]));
    scene.beforeWrite = async () => {
      await call("DELETE", path);
      await applyTool({ phase: "Succeeded" });
    };
    assert.equal(await writer.write(job, new Map([["b", "y"]])), "contended");
    assert.deepEqual((await record()).data, { phase: "Succeeded" });
  });
});

Deno.test(
  "kubernetes records: an ending of the apply tool is left to it, also one that comes in between",
  { ignore },
  async () => {
    await withCampaign(async (scene) => {
      const { writer, job, record, applyTool } = scene;
      const ending = { phase: "Succeeded", volumesTotal: "4", volumesDone: "4", volumesFailed: "0", jobUid: job.uid };
      await applyTool({ volumesTotal: "9", jobUid: job.uid });
      scene.beforeWrite = () => applyTool(ending);
      assert.equal(await writer.write(job, new Map([["a", "x"]])), "contended");
      assert.deepEqual((await record()).data, ending);

      scene.beforeWrite = () => Promise.resolve();
      assert.equal(await writer.write(job, new Map([["a", "x"]])), "written");
      const after = await record();
      assert.deepEqual({ ...after.data, ...ending }, after.data);
      assert.deepEqual(owners(after)[applyManager], Object.keys(ending).sort());
      assert.deepEqual([...readFailures(after.data.failedVolumes)], [["a", "x"]]);
    });
  },
);

Deno.test("kubernetes records: another Job's record is taken over only as it was read", { ignore }, async () => {
  await withCampaign(async (scene) => {
    const { writer, job, record, applyTool } = scene;
    const former = { phase: "Failed", finishedAt: "2025-11-01T00:00:00Z", jobUid: "uid-0", failedVolumes: "[]" };
    await applyTool(former);
    scene.beforeWrite = () => applyTool({ ...former, phase: "Succeeded" });
    assert.equal(await writer.write(job, null), "contended");
    assert.equal((await record()).data.phase, "Succeeded");

    scene.beforeWrite = () => Promise.resolve();
    assert.equal(await writer.write(job, null), "written");
    const { data } = await record();
    assert.deepEqual([data.phase, data.finishedAt, data.jobUid], ["Running", "", job.uid]);
    assert.equal(data.failedVolumes, "[]");
  });
});

Deno.test("kubernetes records: nothing is written for a Job that was deleted", { ignore }, async () => {
  await withCampaign(async (scene) => {
    const { writer, job, call, namespace } = scene;
    await call("DELETE", `/apis/batch/v1/namespaces/${namespace}/jobs/lund?propagationPolicy=Background`);
    assert.equal(await writer.write(job, new Map([["a", "x"]])), "gone");
    assert.equal(await isGone(scene), true);
  });
});

Deno.test(
  "kubernetes records: an account that may not write is refused once, then left alone",
  { ignore },
  async () => {
    await withCampaign(async (scene) => {
      const { job, account } = scene;
      const verbs = ["get", "list", "watch"];
      const path = await account([{ apiGroups: ["batch"], resources: ["jobs"], verbs }, {
        apiGroups: [""],
        resources: ["pods", "configmaps"],
        verbs,
      }]);
      const connection = await clusterConnection({ kind: "kubeconfig", path }, { now: Date.now });
      let writes = 0;
      const counted: ClusterConnection = {
        send(request) {
          if (request.method === "PATCH") writes++;
          return connection.send(request);
        },
      };
      const writer = recordWriter({ connection: counted, conventions, resultsUrl: RESULTS_URL });
      await assert.rejects(writer.write(job, null), (error) => {
        assert.ok(error instanceof RecordRejected);
        assert.equal(error.message, "status 403");
        return true;
      });
      const logged: LogEntry[] = [];
      const log = { write: (entry: LogEntry) => void logged.push(entry), flush() {} };
      const records = new CampaignRecords({ writer, resultsUrl: RESULTS_URL, log, now: Date.now });
      writes = 0;
      for (let round = 0; round < 3; round++) {
        records.listed({ jobs: [job], statuses: [] });
        records.shown(job, new Map([["a", "x"]]));
        await records.idle();
      }
      assert.equal(writes, 1);
      assert.deepEqual(logged, [{ level: "warn", unwritten_records: job.namespace, error: "status 403" }]);
      assert.equal(await isGone(scene), true);
    });
  },
);
