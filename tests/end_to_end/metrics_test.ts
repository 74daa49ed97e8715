import assert from "node:assert/strict";
import { type Application, startApplication, StartError, STORAGE_ONLY } from "@/tests/application.ts";
import { sharedByFile } from "@/tests/shared_by_file.ts";
import { logIn } from "./gateway_client.ts";
import { metricsUrl, scrape, sumOf } from "./metrics_scrape.ts";

const SECRET_KEY = "kept-from-labels";

const shared = sharedByFile(
  () => startApplication({ env: { ...STORAGE_ONLY, METRICS_PORT: "0" } }),
  (application) => application.stop(),
);

async function withMetrics(test: (application: Application, metrics: string) => Promise<void>): Promise<void> {
  const application = await shared();
  await test(application, metricsUrl(application));
}

Deno.test("metrics: requests, upstream calls and the process are counted, and no label has what clients send", async () => {
  await withMetrics(async (application, url) => {
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
  });
});

Deno.test("metrics: they are served on their own port alone, to names of this machine, and for reading", async () => {
  await withMetrics(async (application, url) => {
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
  });
});
