import assert from "node:assert/strict";
import { startApplication, STORAGE_ONLY } from "@/tests/application.ts";
import { until } from "@/tests/until.ts";
import { logIn } from "./gateway_client.ts";

/** A span as OTLP sends it in JSON, as far as it matters here. */
interface SentSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
  readonly status: { readonly code?: number };
}

const TRACE = "0af7651916cd43dd8448eb211c80319c";
const SPAN = "b7ad6b7169203331";
const SERVER = 2;
const CLIENT = 3;
const ERROR = 2;
const KEY = "kept-from-spans";
/** One that proxies pass on, which reject what they do not know, and that no route has. */
const STRANGE_METHOD = "PROPFIND";

const attribute = (span: SentSpan, name: string) => {
  const value = span.attributes.find(({ key }) => key === name)?.value;
  return value && Object.values(value)[0];
};

Deno.test("traces: a request is a span in its caller's trace, upstream calls are its children, and none has an address", async () => {
  const spans: SentSpan[] = [];
  let texts = "";
  await using collector = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const text = await request.text();
    if (new URL(request.url).pathname === "/v1/traces") {
      texts += text;
      const { resourceSpans } = JSON.parse(text);
      for (const { scopeSpans } of resourceSpans) for (const { spans: sent } of scopeSpans) spans.push(...sent);
    }
    return Response.json({});
  });
  await using application = await startApplication({
    env: {
      ...STORAGE_ONLY,
      OTEL_DENO: "true",
      // As the launcher sets it.
      OTEL_DENO_TRACING: "false",
      OTEL_DENO_CONSOLE: "ignore",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${collector.addr.port}`,
      OTEL_BSP_SCHEDULE_DELAY: "50",
    },
  });
  const { call } = await logIn(application.site, "archive/curator");
  const traceparent = `00-${TRACE}-${SPAN}-01`;
  const absent = await call("HEAD", `/buckets/none/objects/${KEY}?versionId=${KEY}`, undefined, { traceparent });
  assert.equal(absent.status, 404);
  const found = (name: RegExp, trace?: string) => () =>
    spans.find((span) => name.test(span.name) && (trace === undefined || span.traceId === trace)) ?? null;
  const server = await until("the span of the request", found(/^head_object /, TRACE));
  const child = await until("the span of the upstream call", found(/^s3 HeadObject$/, TRACE));
  assert.deepEqual([server.parentSpanId, server.kind], [SPAN, SERVER]);
  assert.equal(server.name, "head_object /api/v1/buckets/{bucket}/objects/{key}");
  assert.equal(attribute(server, "http.route"), "/api/v1/buckets/{bucket}/objects/{key}");
  assert.equal(Number(attribute(server, "http.response.status_code")), 404);
  assert.equal(attribute(server, "stackroom.role"), "gateway");
  assert.notEqual(server.status.code, ERROR, "a 404 is no error of the server");
  assert.deepEqual([child.parentSpanId, child.kind], [server.spanId, CLIENT]);
  assert.deepEqual([attribute(child, "stackroom.operation"), attribute(child, "error.type")], ["HeadObject", "404"]);
  assert.equal(child.status.code, ERROR);

  // An invalid one begins a trace of its own, and a method or path that a client chose is in no name.
  const stray = await fetch(`${application.site}${KEY}`, {
    method: STRANGE_METHOD,
    headers: { traceparent: `00-${TRACE}-0000000000000000-01` },
  });
  await stray.body?.cancel();
  const own = await until("the span of a path that is not there", found(/^_OTHER$/));
  assert.notEqual(own.traceId, TRACE);
  assert.equal(own.parentSpanId ?? "", "");
  for (const word of [KEY, STRANGE_METHOD, "curator", "none", "127.0.0.1", "versionId"]) {
    assert.ok(!texts.includes(word), word);
  }
  assert.deepEqual(spans.filter(({ name }) => /^(GET|HEAD|PUT)$/.test(name)).map(({ name }) => name), []);
});
