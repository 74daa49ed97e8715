import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import type { ListedSchedules } from "@/lib/tasks/fixity/responses.ts";
import { startProcess, STORAGE_ONLY } from "@/tests/application.ts";
import { fires } from "@/tests/deploy/monitoring_files.ts";
import { until } from "@/tests/until.ts";
import { type GatewayClient, logIn } from "./gateway_client.ts";
import { metricsUrl, scrape, sumOf } from "./metrics_scrape.ts";
import { removeAtEnd } from "@/tests/remove_at_end.ts";

const FILE = `
logins:
  night: { username: archive/curator, password: stackroom-demo }
  stale: { username: archive/curator, password: an-old-password }
  visitor: { username: archive/reader, password: stackroom-demo }
schedules:
  - { name: monthly, login: night, bucket: scheduled, cron: "0 2 1 * *", time_zone: Europe/Stockholm, full: true }
  - { name: refused, login: stale, bucket: scheduled, cron: "0 2 1 * *" }
  - { name: visited, login: visitor, bucket: scheduled, cron: "0 2 1 * *" }
`;

async function schedulesOf(client: GatewayClient): Promise<ListedSchedules["schedules"]> {
  return (await client.json("GET", "/fixity/schedules")).schedules as ListedSchedules["schedules"];
}

/** As if the schedules had been seen two months ago. */
function setBack(dataFolder: string): void {
  const file = new DatabaseSync(`${dataFolder}/tasks.db`);
  for (const { name, text } of file.prepare("SELECT * FROM notes").all() as { name: string; text: string }[]) {
    const note = JSON.parse(text);
    const due = note.due - 60 * 24 * 3_600_000;
    file.prepare("UPDATE notes SET text = ? WHERE name = ?").run(JSON.stringify({ ...note, due }), name);
  }
  file.close();
}

Deno.test("fixity schedules: a check that was missed runs at the next start, with the login of the file, and its account finds it", async () => {
  const dataFolder = await Deno.makeTempDir({ prefix: "stackroom-schedule-" });
  const path = `${dataFolder}-schedules.yaml`;
  await Deno.writeTextFile(path, FILE);
  const env = { ...STORAGE_ONLY, METRICS_PORT: "0", FIXITY_SCHEDULES_FILE: path };
  using _removal = removeAtEnd(dataFolder, path);
  const first = await startProcess({ env, dataFolder });
  const curator = await logIn(first.site, "archive/curator");
  await curator.json("POST", "/buckets", { bucket: "scheduled" });
  const listed = await schedulesOf(curator);
  assert.deepEqual(listed.map(({ name, last }) => [name, last]), [["monthly", null], ["refused", null], [
    "visited",
    null,
  ]]);
  const [monthly] = listed;
  assert.match(monthly.next_at ?? "", /-(?:28|29|30|31|01)T0[01]:00:00\.000Z$/);
  await until("both schedules are noted", async () => {
    const samples = await scrape(metricsUrl(first));
    return samples.has('stackroom_fixity_schedule_failing{schedule="refused"}') || null;
  });
  await first.stop();

  setBack(dataFolder);
  await using second = await startProcess({ env, dataFolder });
  const again = await logIn(second.site, "archive/curator");
  const found = await until("the check has ended", async () => {
    const [{ last }] = await schedulesOf(again);
    return last?.status === "done" ? last : null;
  });
  const check = await again.json("GET", `/buckets/scheduled/fixity/${found.task_id}`);
  assert.deepEqual([check.schedule, check.status, check.full], ["monthly", "done", true]);
  const reader = await logIn(second.site, "archive/reader");
  assert.deepEqual((await schedulesOf(reader)).map(({ name, own }) => [name, own]), [["visited", true]]);
  // Administrators see how they go, and cannot open their checks.
  assert.deepEqual((await schedulesOf(again)).map(({ account, own }) => [account, own]), [
    ["archive/curator", true],
    ["archive/curator", true],
    ["archive/reader", false],
  ]);
  const administrator = await logIn(second.site, "admin");
  const [seen] = await schedulesOf(administrator);
  assert.deepEqual([seen.account, seen.own, seen.last?.task_id], ["archive/curator", false, found.task_id]);
  const foreign = await reader.call("GET", `/buckets/scheduled/fixity/${found.task_id}`);
  assert.equal(foreign.status, 404, await foreign.text());
  const researcher = await logIn(second.site, "research/researcher");
  assert.deepEqual(await schedulesOf(researcher), []);

  const failing = await until("the other one has failed", async () => {
    const samples = await scrape(metricsUrl(second));
    const value = sumOf(samples, "stackroom_fixity_schedule_failing", 'schedule="refused"');
    return value > 0 ? value : null;
  });
  assert.ok(fires("StackroomFixityScheduleFails", failing));
  const [, refused] = await schedulesOf(again);
  assert.match(refused.error ?? "", /The store refused the credentials/);
  const samples = await scrape(metricsUrl(second));
  assert.ok(
    !fires(
      "StackroomFixityScheduleFails",
      sumOf(samples, "stackroom_fixity_schedule_failing", 'schedule="monthly"'),
    ),
  );
  assert.doesNotMatch(second.output(), /an-old-password|stackroom-demo.*schedule/);
});

Deno.test("fixity schedules: a file that cannot be used ends the start, which names the member", async () => {
  await assert.rejects(
    startProcess({ env: { ...STORAGE_ONLY, FIXITY_SCHEDULES: FILE.replace("0 2 1 * *", "often") } }),
    /FIXITY_SCHEDULES.*schedules\.0\.cron: is no cron expression/s,
  );
});
