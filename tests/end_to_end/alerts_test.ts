import assert from "node:assert/strict";
import { processMetrics } from "@/compose/metrics.ts";
import { watchEventLoop } from "@/lib/metrics/figures.ts";
import { DiskRoom } from "@/lib/process/disk_room.ts";
import { FixityFigures } from "@/lib/tasks/fixity/fixity.ts";
import { startApplication, STORAGE_ONLY } from "@/tests/application.ts";
import { alerts, fires } from "@/tests/deploy/monitoring_files.ts";
import { freePort } from "@/tests/free_port.ts";
import { sharedByFile } from "@/tests/shared_by_file.ts";
import { until } from "@/tests/until.ts";
import { logIn } from "./gateway_client.ts";
import { endOfTask } from "./task_client.ts";
import { metricsUrl, samplesOf, scrape, sumOf } from "./metrics_scrape.ts";

/** Sums of one scrape have grown from 0 at the start, so they are what `increase` says of that time. */
const ALERTS = {
  errors: "StackroomErrors",
  upstream: "StackroomUpstreamFails",
  lag: "StackroomEventLoopLag",
  refusals: "StackroomRefusals",
  guessing: "StackroomPasswordGuessing",
  connections: "StackroomConnectionsFull",
  disk: "StackroomDiskLow",
  stale: "StackroomCampaignsStale",
  unknown: "StackroomCampaignsUnknown",
  tasks: "StackroomTasksFail",
  taskStore: "StackroomTaskStoreUnreachable",
  notifications: "StackroomNotificationsFailing",
  fixity: "StackroomFixityDamage",
  schedule: "StackroomFixityScheduleFails",
  auditLost: "StackroomAuditLost",
  auditWaiting: "StackroomAuditWaiting",
};

Deno.test("alerts: a store that is away, connections that are taken, and a process that ended", async () => {
  const away = freePort();
  const application = await startApplication({
    env: {
      EMBEDDED: "off",
      ROLES: "gateway",
      HOST: "127.0.0.1",
      METRICS_PORT: "0",
      API_SECRET_KEY: "0123456789abcdef0123456789abcdef",
      HCP_HOST: "127.0.0.1",
      HCP_PORT: String(away),
      S3_ENDPOINT_URL: `http://127.0.0.1:${away}`,
      MAX_CONNECTIONS: "20",
    },
  });
  const held: Deno.TcpConn[] = [];
  try {
    const url = metricsUrl(application);
    const { call } = await logIn(application.site, "archive/curator");
    for (let n = 0; n < 3; n++) {
      const response = await call("GET", "/buckets");
      await response.body?.cancel();
      assert.equal(response.status, 502);
    }
    const failed = await scrape(url);
    const requests = (...labels: string[]) =>
      sumOf(failed, "stackroom_http_requests_total", 'role="gateway"', ...labels);
    assert.ok(fires(ALERTS.errors, requests('status="5xx"') / requests()));
    const upstream = (...labels: string[]) =>
      sumOf(failed, "stackroom_upstream_requests_total", 'service="s3"', ...labels);
    assert.ok(fires(ALERTS.upstream, upstream('result="unreachable"') / upstream()));

    const { port } = new URL(application.site);
    for (let n = 0; n < 20; n++) held.push(await Deno.connect({ hostname: "127.0.0.1", port: Number(port) }));
    await until("the connections count as taken", async () => {
      const samples = await scrape(url);
      const share = sumOf(samples, "stackroom_connections_open") / sumOf(samples, "stackroom_connections_max");
      return fires(ALERTS.connections, share) ? true : null;
    });
    await application.kill();
    await assert.rejects(fetch(url));
    await Deno.remove(application.dataFolder, { recursive: true }).catch(() => {});
  } finally {
    for (const connection of held) connection.close();
    await application.kill().catch(() => {});
  }
});

const shared = sharedByFile(
  () => startApplication({ env: { ...STORAGE_ONLY, METRICS_PORT: "0" } }),
  (application) => application.stop(),
);

Deno.test("alerts: a fixity check that finds damage", async () => {
  const application = await shared();
  const url = metricsUrl(application);
  const damage = (samples: Awaited<ReturnType<typeof scrape>>) =>
    ["changed", "missing", "unreadable"].map((result) =>
      sumOf(samples, "stackroom_fixity_objects_total", `result="${result}"`)
    ).reduce((sum, one) => sum + one, 0);
  const before = damage(await scrape(url));
  assert.ok(!fires(ALERTS.fixity, before), "the series begins at 0, so that its first step is an increase");
  const curator = await logIn(application.site, "archive/curator");
  await curator.json("POST", "/buckets", { bucket: "fixity-bits" });
  const put = await fetch(`${curator.base}/buckets/fixity-bits/objects/SUMS`, {
    method: "PUT",
    headers: { authorization: curator.authorization },
    body: `${"0".repeat(64)}  lost.tif\n`,
  });
  assert.equal(put.status, 200, await put.text());
  const { task_id } = await curator.json("POST", "/buckets/fixity-bits/fixity", { manifest: "SUMS" });
  await endOfTask(curator, `/buckets/fixity-bits/fixity/${task_id}`);
  const samples = await scrape(url);
  assert.ok(fires(ALERTS.fixity, damage(samples) - before));
  assert.ok(sumOf(samples, "stackroom_fixity_read_bytes_total") > 0);
});

Deno.test("alerts: requests that are turned away, and wrong passwords", async () => {
  const application = await shared();
  const held: Deno.TcpConn[] = [];
  try {
    const url = metricsUrl(application);
    const { hostname, port } = new URL(application.site);
    const head =
      `POST /api/v1/auth/token HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Length: 100\r\n\r\nusername=`;
    for (let n = 0; n < 16; n++) {
      const connection = await Deno.connect({ hostname, port: Number(port) });
      held.push(connection);
      await connection.write(new TextEncoder().encode(head));
    }
    await until("the slots of logins are taken", async () => {
      const taken = sumOf(await scrape(url), "stackroom_slots_in_use", 'limit="logins"');
      return taken === held.length ? true : null;
    });
    for (let n = 0; n < 12; n++) {
      const body = new URLSearchParams({ username: "archive/curator", password: "any" });
      const response = await fetch(`${application.site}api/v1/auth/token`, { method: "POST", body });
      await response.body?.cancel();
      assert.equal(response.status, 503);
    }
    assert.ok(fires(ALERTS.refusals, sumOf(await scrape(url), "stackroom_refusals_total", 'reason="address_full"')));
    for (const connection of held.splice(0)) connection.close();
    await until("the slots of logins are free", async () => {
      return sumOf(await scrape(url), "stackroom_slots_in_use", 'limit="logins"') === 0 ? true : null;
    });

    const { call } = await logIn(application.site, "archive/curator", "wrong-password");
    for (let n = 0; n < 60; n++) await (await call("GET", "/buckets")).body?.cancel();
    const guesses = sumOf(await scrape(url), "stackroom_refusals_total", 'reason="guesses_');
    assert.ok(fires(ALERTS.guessing, guesses), String(guesses));
  } finally {
    for (const connection of held) connection.close();
  }
});

Deno.test("alerts: a disk without room, campaigns that are old or unknown, tasks that failed or cannot be stored, and notifications that are not taken", async () => {
  const metrics = processMetrics();
  const none = { ready: 0, failed: 0, canceled: 0 };
  let age: number | "failed" = "failed";
  metrics.watch({
    tasks: () => ({
      running: 0,
      maxRunning: 8,
      waiting: 0,
      ended: new Map([["count", { ...none, failed: 1 }]]),
      isStoreReachable: false,
    }),
    campaigns: { lastKnown: () => age },
    disk: new DiskRoom("/data", () => {}, () => Promise.resolve({ free: 9, total: 100 })),
    storeFolder: null,
    notifications: new Map([["webhook", { sent: 0, failed: 1, dropped: 1 }]]),
    fixity: {
      figures: new FixityFigures(),
      schedules: () => [{ name: "yearly", succeededAt: null, isFailing: true }],
    },
    audit: () => new Map([["chain", { written: 5, lost: 1, waiting: 3 }]]),
  });
  try {
    const unknown = samplesOf(await metrics.registry.text());
    assert.ok(fires(ALERTS.unknown, sumOf(unknown, "stackroom_campaigns_listed")));
    assert.ok(!unknown.has("stackroom_campaigns_age_seconds"), "an age of 0 would look fresh");
    age = 61_000;
    const samples = samplesOf(await metrics.registry.text());
    assert.ok(fires(ALERTS.stale, sumOf(samples, "stackroom_campaigns_age_seconds")));
    assert.ok(!fires(ALERTS.unknown, sumOf(samples, "stackroom_campaigns_listed")));
    assert.ok(fires(ALERTS.disk, sumOf(samples, "stackroom_disk_low")));
    assert.ok(fires(ALERTS.tasks, sumOf(samples, "stackroom_tasks_ended_total", 'result="failed"')));
    const undelivered = ["failed", "dropped"].map((result) => `result="${result}"`)
      .map((label) => sumOf(samples, "stackroom_notifications_total", 'channel="webhook"', label));
    const lost = sumOf(samples, "stackroom_audit_records_total", 'sink="chain"', 'result="lost"');
    assert.ok(fires(ALERTS.auditLost, lost));
    assert.ok(fires(ALERTS.auditWaiting, sumOf(samples, "stackroom_audit_records_waiting", 'sink="chain"')));
    assert.ok(!fires(ALERTS.auditLost, 0) && !fires(ALERTS.auditWaiting, 0));
    assert.ok(fires(ALERTS.notifications, undelivered[0] + undelivered[1]));
    assert.ok(!fires(ALERTS.notifications, undelivered[0]), "one attempt that failed is made again");
    assert.ok(fires(ALERTS.schedule, sumOf(samples, "stackroom_fixity_schedule_failing", 'schedule="yearly"')));
    assert.ok(fires(ALERTS.taskStore, samples.get("stackroom_task_store_reachable") ?? NaN));
    assert.ok(!samples.has("stackroom_store_index_bytes"), "there is no store");
  } finally {
    metrics.close();
  }
});

Deno.test("alerts: an event loop that one computation blocks", async () => {
  const observed = Promise.withResolvers<number>();
  const end = watchEventLoop(observed.resolve);
  // Beyond the time of the probe, so that it is late however slow this machine is.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 700);
  // The probe does not hold the process.
  const holding = setInterval(() => {}, 1000);
  try {
    assert.ok(fires(ALERTS.lag, await observed.promise));
  } finally {
    clearInterval(holding);
    end();
  }
});

Deno.test("alerts: the fault of each is made here, but those that Prometheus sees from outside", () => {
  const names = alerts().map(({ alert }) => alert);
  assert.deepEqual(names.toSorted(), ["StackroomDown", "StackroomRestarts", ...Object.values(ALERTS)].toSorted());
});
