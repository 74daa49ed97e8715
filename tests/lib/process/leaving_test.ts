import assert from "node:assert/strict";
import { type Handler, type HandlerInfo, leaving } from "@/lib/process/handler.ts";

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
