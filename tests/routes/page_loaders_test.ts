import assert from "node:assert/strict";
import { HttpError } from "@/lib/http/errors.ts";
import { pageLoaders } from "@/routes/page_loaders.ts";
import type { CampaignDeps } from "@/routes/web_deps.ts";
import { LUND } from "@/tests/routes/api/v1/jobs_fixture.ts";
import { ANNA, fakeSource } from "@/tests/routes/api/v1/web_fixture.ts";
import { webDeps } from "./web_deps_fixture.ts";

const HOME = "http://site.example/";
const LUND_VOLUMES = { namespace: "batch-default", name: "lund", offset: 0 };

function loaders(source: ReturnType<typeof fakeSource>, session?: CampaignDeps["session"]) {
  const deps = webDeps(source);
  return pageLoaders({ ...deps, campaigns: deps.campaigns && { ...deps.campaigns, ...(session && { session }) } });
}

Deno.test("page loaders: a session is its user, none is null, and one that cannot be checked is an outage", async () => {
  const asAnna = new Request(HOME, { headers: ANNA });
  const { session } = loaders(fakeSource({}));
  const found = await session(asAnna);
  assert.ok(found !== null && found !== "outage");
  assert.equal(found.user, "anna");
  assert.equal(await session(new Request(HOME)), null);
  const failing = loaders(fakeSource({}), () => Promise.reject(new HttpError(502, "no answer")));
  assert.equal(await failing.session(asAnna), "outage");
  const broken = loaders(fakeSource({}), () => Promise.reject(new TypeError("a fault")));
  await assert.rejects(broken.session(asAnna), TypeError);
});

Deno.test("page loaders: a cluster that does not answer is a problem for the page to show", async () => {
  const source = fakeSource({ campaigns: LUND, error: new HttpError(502, "the cluster did not answer") });
  const { campaigns, detail } = loaders(source);
  const problem = { problem: "The cluster that runs the campaigns does not answer." };
  const request = new Request(HOME, { headers: ANNA });
  assert.deepEqual(await campaigns(request, 20), problem);
  assert.deepEqual(await detail(request, LUND_VOLUMES), problem);
});

Deno.test("page loaders: a list has an age only where the cluster could not be followed of late", async () => {
  const ageOf = async (age: number) => {
    const answer = await loaders(fakeSource({ age })).campaigns(new Request(HOME, { headers: ANNA }), 20);
    return "ageMs" in answer ? answer.ageMs : assert.fail();
  };
  assert.equal(await ageOf(30_000), null);
  assert.equal(await ageOf(90_000), 90_000);
});

Deno.test("page loaders: without a cluster there is no session and no campaign", async () => {
  const { session, campaigns, detail } = pageLoaders({ ...webDeps(fakeSource({})), campaigns: null });
  const request = new Request(HOME, { headers: ANNA });
  assert.equal(await session(request), null);
  assert.deepEqual(await campaigns(request, 20), { jobs: [], reapedTotal: 0, ageMs: null });
  assert.equal(await detail(request, LUND_VOLUMES), null);
});
