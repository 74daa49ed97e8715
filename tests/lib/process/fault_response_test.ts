import assert from "node:assert/strict";
import { drainingServer } from "@/lib/process/listener.ts";
import { serveConnection } from "@/lib/runtime/serve_connection.ts";

for (const serve of [serveConnection, null]) {
  Deno.test(`server ${serve ? "with" : "without"} limits: a handler that throws is 500 with the default headers`, async () => {
    const handler = () => {
      throw new Error("broke at X-Amz-Signature=hush");
    };
    const said: string[] = [];
    const { error } = console;
    console.error = (text) => said.push(String(text));
    const server = drainingServer({ hostname: "127.0.0.1", port: 0, serve }, handler, handler);
    try {
      const response = await fetch(`http://127.0.0.1:${server.port}`);
      assert.deepEqual([response.status, await response.text()], [500, "Internal Server Error"]);
      assert.equal(response.headers.get("Content-Security-Policy"), "frame-ancestors 'none'");
      assert.equal(response.headers.get("X-Content-Type-Options"), "nosniff");
    } finally {
      console.error = error;
      await server.drain();
    }
    assert.match(said.join("\n"), /broke at/);
    assert.ok(!said.join("\n").includes("hush"), said.join("\n"));
  });
}
