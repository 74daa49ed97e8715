import assert from "node:assert/strict";
import { processMetrics } from "@/compose/measured_parts.ts";
import { watchEventLoop } from "@/lib/operations/metrics/request_metrics.ts";
import { DiskRoom } from "@/lib/process/disk_room.ts";
import { FixityFigures } from "@/lib/tasks/fixity/fixity.ts";
import { type Application, gatewayOf, startApplication, StartError, STORAGE_ONLY } from "@/tests/application.ts";
import { alerts, fires } from "@/tests/deploy/monitoring_files.ts";
import { freePort } from "@/tests/free_port.ts";
import { sharedByFile } from "@/tests/shared_by_file.ts";
import { until } from "@/tests/until.ts";
import { endOfTask, logIn } from "./gateway_client.ts";
import { metricsUrl, samplesOf, scrape, sumOf } from "./metrics_scrape.ts";

const SECRET_KEY = "kept-from-labels";

const shared = sharedByFile(
  () => startApplication({ env: { ...STORAGE_ONLY, METRICS_PORT: "0" } }),
  (application) => application.stop(),
);

async function withMetrics(test: (application: Application, metrics: string) => Promise<void>): Promise<void> {
  const application = await shared();
  await test(application, metricsUrl(application));
}

Deno.test("metrics: requests, upstream calls and the process are counted, and no label has what clients send", () =>
  withMetrics(async (application, url) => {
    const { call } = await logIn(application.site, "archive/curator");
    const body = "x".repeat(1000);
    assert.ok((await call("POST", "/buckets", { bucket: "scrapes" })).ok);
    assert.ok((await call("PUT", `/buckets/scrapes/objects/${SECRET_KEY}`, body)).ok);
    for (let n = 0; n < 3; n++) {
      assert.equal((await call("HEAD", `/buckets/scrapes/objects/${SECRET_KEY}`)).status, 200);
    }
    assert.equal(await (await call("GET", `/buckets/scrapes/objects/${SECRET_KEY}`)).text(), body);
    await (await call("GET", `/buckets/${SECRET_KEY}/objects/none`)).body?.cancel();

    const before = await scrape(url);
    assert.equal(sumOf(before, "stackroom_http_requests_total", 'operation="head_object"', 'status="2xx"'), 3);
    assert.equal(sumOf(before, "stackroom_http_request_duration_seconds_count", 'operation="head_object"'), 3);
    assert.ok(sumOf(before, "stackroom_http_request_duration_seconds_sum", 'operation="head_object"') > 0);
    assert.equal(sumOf(before, "stackroom_upstream_requests_total", 'operation="HeadObject"', 'result="2xx"'), 3);
    assert.equal(sumOf(before, "stackroom_upstream_requests_total", 'operation="PutObject"', 'service="s3"'), 1);
    assert.ok(sumOf(before, "stackroom_http_request_body_bytes_total", 'role="gateway"') >= body.length);
    assert.ok(sumOf(before, "stackroom_http_response_body_bytes_total", 'role="gateway"') >= body.length);
    assert.ok(sumOf(before, "stackroom_admissions_total", 'credentials="proven"') >= 4);
    assert.ok(sumOf(before, "stackroom_cache_hits_total", 'cache="tokens"') > 0);
    assert.ok(sumOf(before, "stackroom_connections_open") > 0);
    assert.equal(sumOf(before, "stackroom_task_store_reachable"), 1);
    assert.ok(sumOf(before, "stackroom_disk_free_bytes") > 0);
    assert.ok(sumOf(before, "stackroom_store_index_bytes") > 0);
    assert.ok(sumOf(before, "process_cpu_seconds_total") > 0);
    assert.ok(sumOf(before, "process_resident_memory_bytes") > 2 ** 20);
    assert.ok(Math.abs(sumOf(before, "process_start_time_seconds") - Date.now() / 1000) < 600);

    // Paths, methods and hosts that clients choose add no series once each way to respond to them has been seen.
    const strange = async (n: number) => {
      const at = `${application.site}${SECRET_KEY}-${n}`;
      for (const path of [at, `${at}/%00/..%2f`, `${application.site}results/${SECRET_KEY}-${n}`]) {
        for (const method of ["GET", `X${n}`]) await (await fetch(path, { method })).body?.cancel();
      }
      await (await call("GET", `/buckets/${SECRET_KEY}-${n}/objects?prefix=${n}`)).body?.cancel();
      await (await call("GET", `/mapi/tenants/${SECRET_KEY}-${n}/namespaces/${n}`)).body?.cancel();
    };
    await strange(0);
    const known = new Set((await scrape(url)).keys());
    for (let n = 1; n < 20; n++) await strange(n);
    const after = await scrape(url);
    assert.deepEqual([...after.keys()].filter((series) => !known.has(series)), []);
    for (const word of [SECRET_KEY, "scrapes", "curator", "archive/"]) {
      assert.deepEqual([...after.keys()].filter((series) => series.includes(word)), [], word);
    }
  }));

Deno.test("metrics: they are served on their own port alone, to names of this machine, and for reading", () =>
  withMetrics(async (application, url) => {
    const status = async (address: string, init?: RequestInit) => {
      const response = await fetch(address, init);
      await response.body?.cancel();
      return response.status;
    };
    const statuses = await Promise.all([
      status(`${application.site}metrics`),
      status(url, { method: "HEAD" }),
      status(url, { method: "POST" }),
      status(url.replace("/metrics", "/")),
      status(url.replace("/metrics", "/api/v1/version")),
    ]);
    assert.deepEqual(statuses, [404, 200, 405, 404, 404]);
    const { hostname, port } = new URL(url);
    const connection = await Deno.connect({ hostname, port: Number(port) });
    await connection.write(
      new TextEncoder().encode("GET /metrics HTTP/1.1\r\nHost: other.example.org\r\nConnection: close\r\n\r\n"),
    );
    assert.match(await new Response(connection.readable).text(), /^HTTP\/1\.1 421 /);

    const taken = startApplication({ env: { ...STORAGE_ONLY, METRICS_PORT: port } });
    await assert.rejects(taken, (error) => {
      assert.ok(error instanceof StartError);
      assert.equal(error.code, 1);
      assert.match(error.output, new RegExp(`^METRICS_PORT: ${port} is taken on 127\\.0\\.0\\.1: .*\n$`));
      return true;
    });
  }));

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
      ...gatewayOf(`http://127.0.0.1:${away}`),
      HCP_PORT: String(away),
      METRICS_PORT: "0",
      MAX_CONNECTIONS: "20",
    },
  });
  const held: Deno.TcpConn[] = [];
  try {
    const url = metricsUrl(application);
    const { call } = await logIn(application.site, "archive/curator");
    for (let n = 0; n < 3; n++) {
      assert.equal((await call("GET", "/buckets")).status, 502);
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
  await curator.json("PUT", "/buckets/fixity-bits/objects/SUMS", `${"0".repeat(64)}  lost.tif\n`);
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
      assert.equal((await fetch(`${application.site}api/v1/auth/token`, { method: "POST", body })).status, 503);
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
  let age: number | null = null;
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
