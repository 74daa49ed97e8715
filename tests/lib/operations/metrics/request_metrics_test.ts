import assert from "node:assert/strict";
import { RequestContext } from "@/lib/http/request_context.ts";
import { requestFigures, upstreamFigures } from "@/lib/operations/metrics/request_metrics.ts";
import { defineMetrics } from "@/lib/operations/metrics/metric_table.ts";
import { samplesOf, sumOf } from "@/tests/end_to_end/metrics_scrape.ts";

function requestOf(method: string, length: string): RequestContext {
  const request = new Request("http://stackroom.example.org/", { method, headers: { "Content-Length": length } });
  const context = new RequestContext(request, { target: { path: "/", query: "" } });
  context.role = "gateway";
  context.operation = "put_object";
  return context;
}

Deno.test("metrics: the length of a body counts where the request succeeded, up to that of an object", async () => {
  const metrics = defineMetrics();
  const measure = requestFigures(metrics);
  const cases: readonly [string, number, string, number][] = [
    ["PUT", 200, "1000", 1000],
    ["PUT", 401, "1000", 0],
    ["PUT", 303, "1000", 0],
    ["PUT", 500, "1000", 0],
    ["GET", 200, "1000", 0],
    ["PUT", 200, String(5 * 2 ** 40), 5 * 2 ** 40],
    ["PUT", 200, String(Number.MAX_SAFE_INTEGER), 0],
    ["PUT", 200, "-1", 0],
  ];
  let before = 0;
  for (const [method, status, length, counted] of cases) {
    measure(requestOf(method, length), new Response(null, { status }), 1);
    const sum = sumOf(samplesOf(await metrics.registry.text()), "stackroom_http_request_body_bytes_total");
    assert.equal(sum - before, counted, `${method} ${status} ${length}`);
    before = sum;
  }
});

Deno.test("metrics: with its first request an operation has the classes and failures that alerts read", async () => {
  const metrics = defineMetrics();
  requestFigures(metrics)(requestOf("PUT", "1"), new Response(null, { status: 201 }), 1);
  upstreamFigures(metrics)("s3")("PutObject", 200, 1);
  const samples = samplesOf(await metrics.registry.text());
  const of = (name: string) =>
    Object.fromEntries(
      [...samples].filter(([series]) => series.startsWith(`${name}{`)).map((
        [series, value],
      ) => [/(?:status|result)="(\w+)"/.exec(series)?.[1], value]),
    );
  assert.deepEqual(of("stackroom_http_requests_total"), { "2xx": 1, "4xx": 0, "5xx": 0 });
  assert.deepEqual(
    of("stackroom_upstream_requests_total"),
    { "2xx": 1, "5xx": 0, unreachable: 0, timeout: 0, broken: 0 },
  );
});
