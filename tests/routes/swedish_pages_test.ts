import assert from "node:assert/strict";

import type { JobSummary } from "@/lib/campaigns/projection/types.ts";
import { LANGUAGES } from "@/lib/pages/locale/language.ts";
import { loginNoteCookie } from "@/lib/results/results_login.ts";
import { SAMPLE_NOW, sampleDetail, sampleSummaries, summary } from "@/tests/site/fake_campaigns.ts";
import { ASSETS, fakeSite } from "@/tests/site/fake_site.ts";
import { textsIn, textsOf, untranslated } from "@/tests/site/page_texts.ts";

const HOME = "http://127.0.0.1";
/** Campaigns in the states that the samples are not in. */
const FURTHER: readonly JobSummary[] = (["suspended", "quota", "warmup", "unschedulable", "no-pods"] as const).map(
  (code) =>
    summary({
      name: `waits-${code}`,
      phase: "Queued",
      startedAt: null,
      waiting: { code, reason: "Reported", message: null, since: null },
      warmup: { phase: code === "quota" ? "missing" : "pending" },
      counts: { total: 3, active: 0, done: 0, failed: 0 },
    }),
);

/** What the pages show of others: campaigns, volumes, names of users and of what they open. */
const DATA = [
  ...textsIn([...sampleSummaries(), ...FURTHER].map((job) => [job, sampleDetail(job, 0, 200), keyOf(job)])),
  ...["åsa", "admin", "archive/reader", "stackroom-demo", "the tenants", "/openapi.json", "batch-default/nobody"],
  "Pending: 2 campaigns are ahead",
  "0001 · v · Stackroom",
];

function keyOf({ namespace, name }: JobSummary): string {
  return `${namespace}/${name}`;
}

async function englishLeft(site: ReturnType<typeof fakeSite>, path: string, cookie = "fake_session=%C3%A5sa") {
  const [english, swedish] = await Promise.all(LANGUAGES.map(async (language) => {
    const headers = { Accept: "text/html", "Accept-Language": language, Cookie: cookie };
    return await (await site.app.request(HOME + path, { headers })).text();
  }));
  assert.ok(textsOf(english).length > 5, path);
  return untranslated(textsOf(english), textsOf(swedish), DATA);
}

Deno.test("Swedish: no page of a reader who is logged in has English left", async () => {
  const site = fakeSite(ASSETS, "/nonexistent");
  site.state.jobs = [...site.state.jobs, ...FURTHER];
  const open = site.state.jobs.map((job) => `/?open=${encodeURIComponent(keyOf(job))}`);
  const log = encodeURIComponent(`${HOME}/results/batch-default/status/logs/p/v.txt`);
  const alto = encodeURIComponent(`${HOME}/results/batch-default/p/v/alto/0001.xml`);
  const paths = [
    "/",
    "/?state=running&q=nothing",
    "/?open=batch-default%2Fnobody",
    ...open,
    "/log",
    `/log?log=${log}&live=1`,
    "/log?log=https%3A%2F%2Felsewhere.example%2F",
    "/alto",
    `/alto?src=${alto}`,
    "/alto?src=nonsense",
    "/uv.html",
    "/none",
    "/login",
  ];
  for (const path of paths) assert.deepEqual(await englishLeft(site, path), [], path);
});

Deno.test("Swedish: no page without a login, without a cluster or during an outage has English left", async () => {
  const site = fakeSite(ASSETS, "/nonexistent");
  for (const path of ["/", "/log?log=x", "/alto"]) assert.deepEqual(await englishLeft(site, path, ""), [], path);
  for (const error of [401, 403, 413, 422, 429, 502, 503, 504, 418]) {
    assert.deepEqual(await englishLeft(site, `/login?error=${error}`, ""), [], String(error));
  }
  const notes = [
    { kind: "session", endsAt: SAMPLE_NOW - 90_000 },
    { kind: "session", endsAt: SAMPLE_NOW + 90_000 },
    { kind: "loggedOut" },
    { kind: "failed", username: "research/x", retryAt: SAMPLE_NOW + 90_000 },
    { kind: "failed", username: "admin", retryAt: null },
  ] as const;
  for (const note of notes) {
    const cookie = loginNoteCookie("http", note, SAMPLE_NOW).split(";")[0];
    for (const path of ["/login", "/login?error=401&next=%2Flog", "/login?error=429"]) {
      assert.deepEqual(await englishLeft(site, path, cookie), [], `${note.kind} ${path}`);
    }
  }
  site.state.outage = true;
  assert.deepEqual(await englishLeft(site, "/"), []);
  assert.deepEqual(await englishLeft(fakeSite(ASSETS, "/nonexistent", undefined, false), "/"), []);
});
