import assert from "node:assert/strict";
import { type Handler, type HandlerInfo, leaving } from "@/lib/process/connections.ts";
import { drainingServer, listen } from "@/lib/process/listener.ts";
import { serveConnection } from "@/lib/runtime/http.ts";
import { open, readTo } from "./raw_connection.ts";
import { printedErrors } from "@/tests/printed_errors.ts";

const refusing = (status: string) => () => new Response(status, { status: 503 });

Deno.test("listener: requests before the application is ready and while the server stops get the fallback responses", async () => {
  const listener = listen({ host: "127.0.0.1", port: 0 }, {
    starting: refusing("starting"),
    stopping: refusing("stopping"),
  });
  const early = await fetch(listener.origin);
  assert.deepEqual([early.status, await early.text(), early.headers.get("Connection")], [503, "starting", null]);

  const entered = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  listener.answerWith(async () => {
    entered.resolve();
    await release.promise;
    return new Response("whole");
  });
  const underWay = fetch(listener.origin);
  await entered.promise;
  const drained = listener.drain();
  // As it is sent: `fetch` hides the header `Connection`.
  using connection = await open(listener, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const late = await readTo(connection, /stopping$/);
  assert.match(late, /^HTTP\/1\.1 503 /);
  assert.match(late, /\r\nconnection: close\r\n/i);
  assert.match(late, /\r\n\r\nstopping$/);
  release.resolve();
  assert.equal(await (await underWay).text(), "whole");
  await drained;
});

for (const serve of [serveConnection, null]) {
  Deno.test(`server ${serve ? "with" : "without"} limits: a handler that throws is 500 with the default headers`, async () => {
    const handler = () => {
      throw new Error("broke at X-Amz-Signature=hush");
    };
    using printed = printedErrors();
    const server = drainingServer({ hostname: "127.0.0.1", port: 0, serve }, handler, handler);
    try {
      const response = await fetch(`http://127.0.0.1:${server.port}`);
      assert.deepEqual([response.status, await response.text()], [500, "Internal Server Error"]);
      assert.equal(response.headers.get("Content-Security-Policy"), "frame-ancestors 'none'");
      assert.equal(response.headers.get("X-Content-Type-Options"), "nosniff");
    } finally {
      await server.drain();
    }
    const said = printed.lines.join("\n");
    assert.match(said, /broke at/);
    assert.ok(!said.includes("hush"), said);
  });
}

Deno.test("leaving: probes say that the process stops, all else is served, and each connection is closed behind it", async () => {
  const served: Handler = ({ url }) => new Response(`served ${url}`);
  const stopping: Handler = () => new Response("stopping", { status: 503 });
  const leave = leaving(served, { isProbe: (path) => path === "/readyz", stopping });
  const shown = async (path: string) => {
    const response = await leave(new Request(`http://localhost${path}`), {} as HandlerInfo);
    return [response.status, await response.text(), response.headers.get("Connection")];
  };
  assert.deepEqual(await shown("/readyz?from=proxy"), [503, "stopping", "close"]);
  assert.deepEqual(await shown("/readyz/x"), [200, "served http://localhost/readyz/x", "close"]);
});
