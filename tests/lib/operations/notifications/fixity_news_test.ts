import assert from "node:assert/strict";
import type { NotificationEvent } from "@/lib/operations/notifications/event.ts";
import { type EndedCheck, fixityNews } from "@/lib/operations/notifications/fixity_news.ts";
import { type FixityProgress, newFixity } from "@/lib/tasks/fixity/fixity.ts";

const REQUEST = {
  prefix: "2025/",
  rate: null,
  allVersions: false,
  full: false,
  etags: "compare",
  reportTo: null,
  baseline: null,
  schedule: null,
} as const;

/** A progress that has come to its end, with these members. */
function checked(members: Partial<FixityProgress> = {}): FixityProgress {
  const start = { request: REQUEST, comparison: null, baseline: null, startedAt: 0 };
  return { ...newFixity(start), files: 3, bytes: 30, checkedAt: 0, ...members };
}

const { totals } = checked();
const CLEAN: EndedCheck = {
  id: "6f0e",
  owner: "o",
  tenant: "archive",
  bucket: "scans",
  prefix: "2025/",
  schedule: null,
  error: null,
  progress: checked(),
};
const DAMAGED = checked({ totals: { ...totals, changed: 1 } });
const INVALID_BAG = { oxum: null, problems: ["It has no payload manifest"], bytes: 0, files: 0 };

function scene() {
  const events: NotificationEvent[] = [];
  let time = 1_700_000_000_000;
  const notifier = {
    notify: (event: NotificationEvent) => {
      events.push(event);
      return Promise.resolve();
    },
  };
  const report = fixityNews({
    notifier,
    linkOf: ({ id, progress }) => progress ? `https://site.example/fixity?task=${id}` : null,
    now: () => time,
  });
  return { events, report, pass: (ms: number) => time += ms };
}

Deno.test("fixity news: damage, failure, a bag that is not valid and what could not be written are reports, the rest is clean", async () => {
  const { events, report } = scene();
  await report(CLEAN);
  const progress = checked({ totals: { ...totals, changed: 1, missing: 2 } });
  await report({ ...CLEAN, progress, schedule: "yearly" });
  await report({ ...CLEAN, error: "The login was refused", prefix: "" });
  await report({
    ...CLEAN,
    progress: checked({ comparison: { manifests: [], scope: null, figures: [], bag: INVALID_BAG } }),
  });
  await report({ ...CLEAN, progress: checked({ writeError: "the manifest was not written" }) });
  assert.deepEqual(events.map(({ type }) => type), [
    "fixity.clean",
    "fixity.report",
    "fixity.report",
    "fixity.report",
    "fixity.report",
  ]);
  assert.equal(events[1].subject, "The fixity check of 2025/ in bucket scans found 3 damaged objects");
  assert.equal(
    events[1].summary,
    "The fixity check yearly of 2025/ in bucket scans found 3 damaged objects: 3 objects were read; 1 are changed, 2 missing, 0 cannot be read.",
  );
  assert.match(events[2].summary, /^A fixity check of bucket scans failed: .* The login was refused\.$/);
  assert.equal(events[0].id, events[0].id);
  assert.equal(new Set(events.slice(1).map(({ id }) => id)).size, 1, "one check is one fact");
});

Deno.test("fixity news: a login has ten events an hour, a schedule any number", async () => {
  const { events, report, pass } = scene();
  for (let n = 0; n < 15; n++) await report({ ...CLEAN, id: String(n), progress: DAMAGED });
  assert.equal(events.length, 10);
  await report({ ...CLEAN, owner: "another", progress: DAMAGED });
  await report({ ...CLEAN, schedule: "yearly", progress: DAMAGED });
  assert.equal(events.length, 12);
  pass(3_600_000);
  await report({ ...CLEAN, progress: DAMAGED });
  assert.equal(events.length, 13);
});

Deno.test("fixity news: a check is linked, one that could not be started is not", async () => {
  const { events, report } = scene();
  await report(CLEAN);
  await report({ ...CLEAN, id: "none", progress: null, error: "The login was refused" });
  assert.deepEqual(events.map(({ link }) => link), ["https://site.example/fixity?task=6f0e", null]);
});
