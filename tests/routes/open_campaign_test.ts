import assert from "node:assert/strict";
import { HttpError } from "@/lib/http/errors.ts";
import { LUND } from "@/tests/routes/api/v1/jobs_fixture.ts";
import { summary } from "@/tests/site/fake_campaigns.ts";
import { ASSETS, fakeSite } from "@/tests/site/fake_site.ts";
import { ANNA, fakeSource } from "@/tests/routes/api/v1/web_fixture.ts";
import { webApp } from "./web_deps_fixture.ts";

Deno.test("open campaign: its volumes are read for a reader who is logged in, and for no other", async () => {
  const source = fakeSource({ campaigns: LUND });
  const path = "/?open=batch-default%2Flund";
  const text = await (await webApp(source).request(path, { headers: ANNA })).text();
  assert.match(text, /<noscript>.*<span class="vid"[^>]*>d<\/span>.*<\/noscript>/s);
  assert.ok(source.reads.includes("campaign batch-default/lund"));
  const anonymous = fakeSource({ campaigns: LUND });
  assert.doesNotMatch(await (await webApp(anonymous).request(path)).text(), /<noscript>/);
  assert.deepEqual(anonymous.reads, []);
});

Deno.test("open campaign: a name that no campaign can have is never read", async () => {
  const source = fakeSource({ campaigns: LUND });
  for (const open of ["kube-system/lund", "batch-default/..", "batch-default/L%C3%BCnd", "batch-default/a?b=1"]) {
    const path = `/?open=${encodeURIComponent(open)}`;
    assert.match(await (await webApp(source).request(path, { headers: ANNA })).text(), /There is no campaign named/);
  }
  assert.deepEqual(source.reads.filter((read) => read.startsWith("campaign ")), []);
});

Deno.test("open campaign: a cluster that does not answer is said in its place", async () => {
  const source = fakeSource({ campaigns: LUND, error: new HttpError(502, "the cluster did not answer") });
  const answer = await webApp(source).request("/?open=batch-default%2Flund", { headers: ANNA });
  assert.equal(answer.status, 200);
  assert.match(
    await answer.text(),
    /<noscript><p id="open-campaign"[^>]*>The cluster that runs the campaigns does not/,
  );
});

Deno.test("open campaign: one that ended too long ago for the list's first page is listed, with those that ended after it", async () => {
  const site = fakeSite(ASSETS, "/nonexistent");
  site.state.jobs = Array.from({ length: 90 }, (_, day) =>
    summary({
      name: `gone-${day}`,
      jobGone: true,
      phase: "Succeeded",
      finishedAt: new Date(Date.UTC(2026, 10, 1) - day * 86_400_000).toISOString(),
    }));
  site.state.reapedTotal = 90;
  const older = async (name: string) => {
    const path = `/?open=batch-default%2F${name}`;
    const headers = { Accept: "text/html", Cookie: "fake_session=anna" };
    const text = await (await site.app.request(`http://127.0.0.1${path}`, { headers })).text();
    return /Show 20 older campaigns of (\d+)/.exec(text)?.[1];
  };
  assert.equal(await older("gone-19"), "70");
  assert.equal(await older("gone-43"), "30", "it is on the third page of 20");
  assert.equal(await older("nobody"), "70");
});
