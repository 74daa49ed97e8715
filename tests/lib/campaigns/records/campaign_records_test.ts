import assert from "node:assert/strict";
import type { BatchJob } from "@/lib/campaigns/projection/cluster_objects.ts";
import { readStatusRecord, type StatusRecord } from "@/lib/campaigns/projection/status_record.ts";
import {
  CampaignRecords,
  DETAIL_LIFETIME_MS,
  MAX_WRITES_PER_LIST,
  type RecordOutcome,
  RecordRejected,
  REJECTED_PAUSE_MS,
  UNREADABLE_PAUSE_MS,
} from "@/lib/campaigns/records/campaign_records.ts";
import { type Failures, summaryOf } from "@/lib/campaigns/records/record_plan.ts";
import type { LogEntry } from "@/lib/http/app.ts";
import { ClusterUnavailable } from "@/lib/kubernetes/connection.ts";
import { conventions, job } from "@/tests/lib/campaigns/projection/cluster_fixtures.ts";

/** Campaign records whose writer only notes its calls. */
function scene(answer: (job: BatchJob) => RecordOutcome | Promise<RecordOutcome> = () => "written") {
  const written: string[] = [];
  const logged: LogEntry[] = [];
  const clock = { now: 0 };
  const records = new CampaignRecords({
    writer: {
      async write(job, failures) {
        written.push(failures ? `${job.name} ${JSON.stringify([...failures])}` : job.name);
        return await answer(job);
      },
    },
    resultsUrl: null,
    log: { write: (entry) => void logged.push(entry), flush() {} },
    now: () => clock.now,
  });
  const after = async (act: () => void) => {
    written.length = 0;
    act();
    await records.idle();
    return [...written];
  };
  return { records, written, logged, clock, after };
}

function campaign(name: string, parts: { day?: number; namespace?: string; completedIndexes?: string } = {}): BatchJob {
  const { day = 1, namespace = "batch-default", completedIndexes } = parts;
  const creationTimestamp = `2025-11-${String(day).padStart(2, "0")}T00:00:00Z`;
  return job({
    metadata: { namespace, name, uid: `uid-${name}`, creationTimestamp },
    status: { completedIndexes },
  });
}

function recorded(campaign: BatchJob, changes: object = {}, version = "1"): StatusRecord {
  const { namespace, name } = campaign;
  const read = readStatusRecord({
    metadata: { namespace, name: `campaign-${name}-status`, resourceVersion: version },
    data: { ...summaryOf(campaign, null), ...changes },
  }, conventions);
  assert.ok(read);
  return read;
}

Deno.test("campaign records: a list writes missing records after its response", async () => {
  const { records, written, after } = scene();
  const [a, b, c] = [campaign("a"), campaign("b"), campaign("c")];
  const statuses = [recorded(a), recorded(b, { phase: "Queued" })];
  records.listed({ jobs: [a, b, c], statuses });
  await Promise.resolve();
  assert.deepEqual(written, []);
  await records.idle();
  assert.deepEqual(written, ["b", "c"]);
  assert.deepEqual(await after(() => records.listed({ jobs: [a], statuses })), []);
});

Deno.test("campaign records: a list writes twenty, the newest first, and the next one the rest", async () => {
  const { records, after } = scene();
  const jobs = Array.from({ length: 28 }, (_, index) => campaign(`j${index}`, { day: index + 1 }));
  const known = campaign("known", { day: 29 });
  const list = { jobs: [known, ...jobs], statuses: [recorded(known)] };
  const newest = jobs.map(({ name }) => name).reverse();
  assert.deepEqual(await after(() => records.listed(list)), newest.slice(0, MAX_WRITES_PER_LIST));
  assert.deepEqual(await after(() => records.listed(list)), newest.slice(MAX_WRITES_PER_LIST));
  assert.deepEqual(await after(() => records.listed(list)), []);
});

Deno.test("campaign records: what cannot be brought further is tried again only when it or its record changes", async () => {
  for (const outcome of ["unchanged", "contended", "gone"] as const) {
    const { records, after } = scene(() => outcome);
    const list = (completedIndexes: string, version: string) => {
      const a = campaign("a", { completedIndexes });
      return () => records.listed({ jobs: [a], statuses: [recorded(a, { phase: "Succeeded" }, version)] });
    };
    assert.deepEqual(await after(list("0", "1")), ["a"], outcome);
    assert.deepEqual(await after(list("0", "1")), [], outcome);
    assert.deepEqual(await after(list("0", "2")), ["a"], outcome);
    assert.deepEqual(await after(list("0-1", "2")), ["a"], outcome);
  }
});

Deno.test("campaign records: a detail writes its failures, and not the same again within a minute", async () => {
  const { records, after, clock } = scene();
  clock.now = 1;
  const a = campaign("a");
  const show = (failures: Failures, of = a) => after(() => records.shown(of, failures));
  assert.deepEqual(await show(new Map([["v", "x"]])), ['a [["v","x"]]']);
  assert.deepEqual(await show(new Map([["v", "x"]])), []);
  assert.deepEqual(await show(new Map([["v", "y"]])), ['a [["v","y"]]']);
  assert.deepEqual(await show(new Map([["v", "y"]]), campaign("a", { completedIndexes: "0" })), ['a [["v","y"]]']);
  clock.now += DETAIL_LIFETIME_MS;
  assert.deepEqual(await show(new Map([["v", "y"]]), campaign("a", { completedIndexes: "0" })), ['a [["v","y"]]']);
});

Deno.test("campaign records: only one record is written at a time, and a campaign waits once", async () => {
  const gate = Promise.withResolvers<void>();
  let under = 0;
  let most = 0;
  const { records, written } = scene(async (): Promise<RecordOutcome> => {
    most = Math.max(most, ++under);
    await gate.promise;
    under--;
    return "written";
  });
  const [a, b] = [campaign("a"), campaign("b")];
  records.shown(a, new Map());
  records.listed({ jobs: [b], statuses: [] });
  while (written.length === 0) await new Promise((resolve) => setTimeout(resolve, 0));
  for (let round = 0; round < 5; round++) records.shown(b, new Map([["v", `${round}`]]));
  gate.resolve();
  await records.idle();
  assert.deepEqual([written, most], [["a []", 'b [["v","4"]]', "b"], 1]);
});

Deno.test("campaign records: a rejection is logged once and pauses the writes of its namespace for ten minutes", async () => {
  let refuses = true;
  const { records, after, logged, clock } = scene(({ namespace }) => {
    if (refuses && namespace === "closed") throw new RecordRejected("status 403");
    return "written";
  });
  const [a, b] = ["a", "b"].map((name) => campaign(name, { namespace: "closed" }));
  const open = campaign("open");
  const list = () => ({ jobs: [a, b, open], statuses: [] });
  const refusal = { level: "warn", unwritten_records: "closed", error: "status 403" };
  assert.deepEqual(await after(() => records.listed(list())), ["a", "open"]);
  assert.deepEqual(logged, [refusal]);
  clock.now = REJECTED_PAUSE_MS - 1;
  assert.deepEqual(await after(() => records.listed(list())), []);
  assert.deepEqual(await after(() => records.shown(a, new Map())), []);
  clock.now = REJECTED_PAUSE_MS;
  assert.deepEqual(await after(() => records.listed(list())), ["a"]);
  assert.deepEqual(logged, [refusal]);

  refuses = false;
  clock.now = 2 * REJECTED_PAUSE_MS;
  assert.deepEqual(await after(() => records.listed(list())), ["a", "b"]);
  refuses = true;
  const changed = campaign("a", { namespace: "closed", completedIndexes: "0" });
  assert.deepEqual(await after(() => records.listed({ jobs: [changed], statuses: [] })), ["a"]);
  assert.deepEqual(logged, [refusal, refusal]);
});

Deno.test("campaign records: contention is not a rejection, and a cluster that cannot be read pauses the writes for a moment", async () => {
  const contended = scene(() => "contended");
  const jobs = [campaign("a"), campaign("b")];
  assert.deepEqual(await contended.after(() => contended.records.listed({ jobs, statuses: [] })), ["a", "b"]);

  const { records, after, logged, clock } = scene(() => {
    throw new ClusterUnavailable("silence");
  });
  assert.deepEqual(await after(() => records.listed({ jobs, statuses: [] })), ["a"]);
  assert.deepEqual(await after(() => records.listed({ jobs, statuses: [] })), []);
  clock.now = UNREADABLE_PAUSE_MS;
  assert.deepEqual(await after(() => records.listed({ jobs, statuses: [] })), ["a"]);
  assert.deepEqual(logged, []);
});
