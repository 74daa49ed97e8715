import assert from "node:assert/strict";
import { batchedLog } from "@/lib/http/app.ts";
import { buildApp } from "@/compose/app.ts";
import type { WebDeps } from "@/routes/web.ts";
import { ASSETS } from "@/tests/site/fake_site.ts";
import { removeAtEnd } from "@/tests/remove_at_end.ts";

const log = batchedLog(() => {});
const NOTHING = { gateway: null, results: null, resultsStore: null, allowedHosts: null, log, now: Date.now };

/** A site without a cluster over a folder with one file where the API is. */
async function siteOnly(test: (app: ReturnType<typeof buildApp>) => Promise<void>): Promise<void> {
  const staticFolder = await Deno.makeTempDir();
  await Deno.mkdir(`${staticFolder}/api/v1`, { recursive: true });
  await Deno.writeTextFile(`${staticFolder}/api/v1/jobs`, "[]");
  await Deno.writeTextFile(`${staticFolder}/page.html`, "<p>page");
  await Deno.writeTextFile(`${staticFolder}/uv.html`, "<script>start()</script>");
  const web: WebDeps = {
    service: null,
    campaigns: null,
    resultsUrl: () => "",
    cookieStem: "results_session",
    version: "1",
    webVersion: "1",
    site: {
      staticFolder,
      assets: ASSETS,
    },
    log,
    now: Date.now,
  };
  using _removal = removeAtEnd(staticFolder);
  await test(buildApp({ ...NOTHING, web }));
}

Deno.test("site without a cluster: all of its API is 503, whatever its files are called", () =>
  siteOnly(async (app) => {
    for (const path of ["jobs", "jobs/a/b", "version", "nonsense"]) {
      const answer = await app.request(`/api/v1/${path}`);
      assert.equal(answer.status, 503, path);
      assert.equal(answer.headers.get("cache-control"), "private, no-store");
      await answer.body?.cancel();
    }
  }));

Deno.test("site: HEAD says the length of what GET answers", () =>
  siteOnly(async (app) => {
    for (const path of ["/", "/login", "/config.js", "/page.html", "/nothing-there"]) {
      const length = (await (await app.request(path)).bytes()).length;
      const head = await app.request(path, { method: "HEAD" });
      assert.equal(head.headers.get("content-length"), String(length), path);
    }
  }));

Deno.test("site: a name that no disk holds is 404", () =>
  siteOnly(async (app) => {
    for (const name of ["a".repeat(300), "å".repeat(200), `${"b".repeat(252)}`]) {
      assert.equal((await app.request(`/${encodeURIComponent(name)}`)).status, 404);
    }
  }));

Deno.test("host check: a target in absolute form must name us as well", async () => {
  const app = buildApp({ ...NOTHING, web: null, allowedHosts: ["127.0.0.1"] });
  const ask = (url: string) => app.request(url, { headers: { host: "127.0.0.1:8000" } });
  assert.equal((await ask("http://127.0.0.1:8000/healthz")).status, 200);
  assert.equal((await ask("http://evil.example/healthz")).status, 421);
});
