import { fileURLToPath } from "node:url";

import { siteAssets } from "@/lib/site/build.ts";
import { fakeSite } from "./fake_site.ts";

const isDev = Deno.args.includes("--dev");
const port = Number(Deno.args.find((arg) => arg.startsWith("--port="))?.slice("--port=".length) ?? 0);
// The pages over made-up campaigns in a process of its own, for tests that drive a browser.
const { app } = fakeSite(
  await siteAssets({ dev: isDev }),
  fileURLToPath(new URL("../../static", import.meta.url)),
  Date.now,
);

const server = Deno.serve(
  { hostname: "127.0.0.1", port, onListen() {} },
  (request, info) => app.fetch(request, info),
);
console.log(`Site        http://127.0.0.1:${server.addr.port}/`);
// In development the watcher ends it, which must not wait for the streams that tell pages to reload.
if (!isDev) Deno.addSignalListener("SIGTERM", () => server.shutdown().then(() => Deno.exit(0)));
