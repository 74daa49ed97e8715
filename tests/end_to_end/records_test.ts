import assert from "node:assert/strict";
import { CONVENTIONS, labelNames } from "@/lib/campaigns/projection/conventions.ts";
import { readStatusRecord, type StatusRecord } from "@/lib/campaigns/projection/status_record.ts";
import type { JobDetail, JobSummary } from "@/lib/campaigns/projection/types.ts";
import { startApplication } from "@/tests/application.ts";
import { until } from "@/tests/until.ts";
import { resultsCookie } from "./gateway_client.ts";

const { stackroom } = CONVENTIONS;
const names = labelNames(stackroom);

Deno.test("whole application: behind lists and details, every live campaign has a record, under two managers", async () => {
  const application = await startApplication({ env: { SIMULATOR_SPEED: "1" } });
  const { site, dataFolder } = application;
  try {
    const cookie = await resultsCookie(site);
    const read = async <T>(path: string): Promise<T> =>
      await (await fetch(`${site}api/v1${path}`, { headers: { cookie } })).json();
    const config = JSON.parse(await Deno.readTextFile(`${dataFolder}/kubeconfig`));
    const maps = `${config.clusters[0].cluster.server}/api/v1/namespaces/batch-default/configmaps`;
    const selector = new URLSearchParams({ labelSelector: `${names.managedBy}=converter,${names.kind}=status` });
    const records = async () => {
      const { items }: { items: { metadata: { managedFields: { manager: string }[] } }[] } =
        await (await fetch(`${maps}?${selector}`)).json();
      return new Map(items.flatMap((item): [string, { record: StatusRecord; managers: string[] }][] => {
        const record = readStatusRecord(item, stackroom);
        const managers = item.metadata.managedFields.map(({ manager }) => manager);
        return record ? [[record.job, { record, managers }]] : [];
      }));
    };

    const live = (await read<JobSummary[]>("/jobs")).filter(({ jobGone }) => !jobGone);
    let written = await until("the records", async () => {
      const found = await records();
      return live.every(({ name }) => found.has(name)) ? found : null;
    });
    for (const { name, counts } of live) assert.equal(written.get(name)?.record.volumesTotal, counts.total);

    const running = live.find(({ phase }) => phase === "Running");
    const failed = live.find(({ counts }) => counts.failed > 0);
    assert.ok(running && failed);
    for (const { namespace, name } of [running, failed]) {
      const detail = await read<JobDetail>(`/jobs/${namespace}/${name}`);
      written = await until(`the failures of ${name}`, async () => {
        const found = await records();
        return found.get(name)?.managers.includes(stackroom.failuresManager) ? found : null;
      });
      const failures = [...written.get(name)?.record.failures.keys() ?? []].sort();
      assert.deepEqual(failures, detail.failures.map(({ id }) => id).sort());
    }
    assert.ok(written.get(running.name)?.managers.includes(stackroom.summaryManager));
    assert.doesNotMatch(application.output(), /unwritten_records/);
  } finally {
    await application.stop();
  }
});
